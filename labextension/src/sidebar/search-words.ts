/** What people look for, beside its title, who are to find a panel; by its id. */
export const SEARCH_WORDS: Readonly<Record<string, string>> = {
  findings: 'advice, problems, bottlenecks, performance, diagnosis, warnings',
  'time-budget': 'idle, waiting, overhead, efficiency, utilisation, utilization, cells, lines',
  'task-stream': 'timeline, gantt, lanes, threads, trace',
  'critical-path': 'longest chain, dependencies, graph, bottleneck, bound',
  'what-if': 'simulation, scaling, speedup, more workers, more threads',
  resources:
    'cpu, network, disk, gpu, gil, event loop, lag, memory, host, open files, file descriptors, occupancy',
  memory: 'ram, bytes, managed, unmanaged, spilled, spilling, leak, limit',
  'flame-graph': 'profile, profiler, stacks, call stacks, hot spots, statistical',
  'fine-metrics': 'fine performance metrics, activities, serialize, deserialize, compress, gpu',
  progress: 'progress bar, done, left, remaining, eta',
  functions: 'task names, prefixes, groups, durations, times',
  transfers: 'communication, network, bandwidth, bytes, data moved, matrix',
  workers: 'hosts, nodes, threads, busy, failed',
  spans: 'computations, sections, annotations',
  events: 'log, errors, exceptions, failures, warnings, retries, workers lost',
  compare: 'comparison, difference, baseline, regression, faster, slower'
};
