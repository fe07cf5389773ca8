import { describe, expect, test, vi } from 'vitest';
import { type Lane, STATUSES } from './lane';
import { Tasks } from './tasks';
import { batchOf, type Row, recordingOf } from './test-recording';

const GRAPH = [
  { task: 0, key: 'inc-0', prefix: 'inc' },
  { task: 1, key: 'sum-1', prefix: 'sum' },
  { task: 2, key: 'inc-2', prefix: 'inc' }
];

function told(tasks: Tasks, lane: Lane): string[] {
  return Array.from({ length: lane.length }, (_, entry) => {
    const stop = Number.isFinite(lane.stop[entry]) ? lane.stop[entry] : '…';
    return `${tasks.names[lane.name[entry]]} ${STATUSES[lane.status[entry]]} ${lane.start[entry]}-${stop}`;
  });
}

function lanesOf(tasks: Tasks): string[][] {
  return tasks.lanes.map(lane => [`${lane.worker}/${lane.thread}`, ...told(tasks, lane)]);
}

describe('Tasks', () => {
  test('names that come last are counted once', () => {
    const attempt = { run: 0, task: 0, worker: 'w', thread: '1', status: 'ok', start: 1, stop: 2 };
    const recording = recordingOf({ attempts: [attempt] });
    const tasks = new Tasks(recording);
    recording.take(batchOf('executions', [{ run: 0, start: Number.NaN, stop: 3 }]));
    recording.take(batchOf('graph', GRAPH));
    expect(lanesOf(tasks)).toEqual([['w/1', 'inc ok 1-3']]);
    expect([...tasks.totals.counts.subarray(0, 3)]).toEqual([0, 1, 0]);
  });

  test('workers that are called alike come in the order in which they joined', () => {
    const attempts = ['tcp://d', 'tcp://c', 'tcp://b', 'tcp://a'].map((worker, run) => {
      return { run, task: 0, worker, thread: '1', status: 'ok', start: 1, stop: 2 };
    });
    const workers = [
      { worker: 'tcp://c', name: '0', joined: 1 },
      { worker: 'tcp://d', name: '1', joined: 1 },
      { worker: 'tcp://b', name: '1', joined: 5 },
      { worker: 'tcp://a', name: '0', joined: 5 }
    ];
    const tasks = new Tasks(recordingOf({ graph: GRAPH, workers, attempts }));
    expect(tasks.lanes.map(lane => lane.worker)).toEqual(['tcp://c', 'tcp://a', 'tcp://d', 'tcp://b']);
  });

  test('workers of several clusters do not mix', () => {
    const attempts = ['tcp://a', 'tcp://b', 'tcp://c', 'threads'].map((worker, run) => {
      return { run, task: 0, worker, thread: '1', status: 'ok', start: 1, stop: 2 };
    });
    const workers = [
      { worker: 'tcp://a', name: '0', joined: 1, cluster: 'tcp://first' },
      { worker: 'tcp://b', name: '0', joined: 2, cluster: 'tcp://second' },
      { worker: 'tcp://c', name: '1', joined: 1, cluster: 'tcp://first' },
      { worker: 'threads', name: 'threads', joined: 3, cluster: '' }
    ];
    const tasks = new Tasks(recordingOf({ graph: GRAPH, workers, attempts }));
    expect(tasks.lanes.map(lane => lane.worker)).toEqual(['threads', 'tcp://a', 'tcp://c', 'tcp://b']);
  });

  test('names of workers and threads are made ready for being put in order once', () => {
    const row = (run: number) => ({
      ...{ run, task: 0, worker: `tcp://${(run * 7) % 400}`, thread: `${1000 - run}` },
      ...{ status: 'ok', start: run, stop: run + 1 }
    });
    const recording = recordingOf({
      graph: GRAPH,
      attempts: Array.from({ length: 800 }, (_, run) => row(run))
    });
    const tasks = new Tasks(recording);
    recording.take(batchOf('attempts', [{ ...row(800), thread: 'another' }]));
    const split = vi.spyOn(String.prototype, 'split');
    const { lanes } = tasks;
    expect(split.mock.calls.length).toBeLessThanOrEqual(2 * 400 + lanes.length);
    split.mockRestore();
    const names = lanes.map(({ worker, thread }) => `${worker}/${thread}`);
    expect(names.slice(0, 4)).toEqual(['tcp://0/600', 'tcp://0/1000', 'tcp://0/another', 'tcp://1/257']);
    expect(lanes).toHaveLength(801);
  });

  test('a lane a thread, grouped by worker in the order of their names', () => {
    const tasks = new Tasks(
      recordingOf({
        graph: GRAPH,
        workers: [
          { worker: 'tcp://b', name: '2' },
          { worker: 'tcp://a', name: '10' }
        ],
        attempts: [
          { run: 0, task: 0, worker: 'tcp://a', thread: '7', status: 'ok', start: 1, stop: 2 },
          { run: 1, task: 1, worker: 'tcp://b', thread: '9', status: 'erred', start: 3, stop: 4 },
          { run: 2, task: 2, worker: 'tcp://a', thread: '7', status: 'ok', start: 2, stop: 3 }
        ]
      })
    );
    expect(lanesOf(tasks)).toEqual([
      ['tcp://b/9', 'sum erred 3-4'],
      ['tcp://a/7', 'inc ok 1-2', 'inc ok 2-3']
    ]);
    expect(tasks.count).toBe(3);
  });

  test('threads on which nothing ran have lanes, and one that comes into use takes the place of such a one', () => {
    const attempt = (run: number, worker: string, thread: string): Row => {
      return { run, task: 0, worker, thread, status: 'ok', start: 5, stop: 6 };
    };
    const lost = { ...attempt(2, 'c', ''), status: 'killed', start: Number.NaN, stop: Number.NaN };
    const recording = recordingOf({
      about: [{ name: 'until', value: '9' }],
      workers: [
        { worker: 'a', threads: 3, joined: 1 },
        { worker: 'b', threads: 2, joined: 1 },
        { worker: 'c', threads: 2, joined: 1 },
        { worker: 'left before', threads: 1, joined: 1, left: 4 },
        { worker: 'joined later', threads: 1, joined: 9 }
      ],
      attempts: [attempt(0, 'a', '7'), attempt(1, 'c', '7'), { ...lost, assigned: 5, done: 6 }]
    });
    const tasks = new Tasks(recording);
    const shown = (): string[] => tasks.lanes.map(({ worker, unused }) => worker + (unused || ''));
    expect(shown()).toEqual(['a', 'a1', 'a1', 'b1', 'b1', 'c', 'c']);
    const before = tasks.lanes;
    recording.take(batchOf('attempts', [attempt(3, 'a', '8')]));
    expect(shown()).toEqual(['a', 'a', 'a1', 'b1', 'b1', 'c', 'c']);
    expect(tasks.lanes.filter(lane => before.includes(lane))).toHaveLength(6);
    expect([tasks.count, lanesOf(tasks)[2]]).toEqual([4, ['a/unused 0']]);
  });

  test('in a large cluster all unused threads of a worker share a lane', () => {
    const workers = Array.from({ length: 30 }, (_, at) => ({ worker: `w${at}`, threads: 8, joined: 1 }));
    const attempts = [{ run: 0, task: 0, worker: 'w0', thread: '7', status: 'ok', start: 5, stop: 6 }];
    const { lanes } = new Tasks(recordingOf({ workers, attempts }));
    expect(lanes.map(({ unused }) => unused)).toEqual([0, 7, ...Array(29).fill(8)]);
  });

  test('rows may come in any order', () => {
    const recording = recordingOf({});
    const tasks = new Tasks(recording);
    const attempt = (run: number, start: number): Record<string, number | string> => ({
      run,
      task: run,
      worker: 'w',
      thread: 't',
      status: 'ok',
      start,
      stop: start + 1
    });
    recording.take(batchOf('attempts', [attempt(1, 5), attempt(2, 8)]));
    expect(lanesOf(tasks)).toEqual([['w/t', ' ok 5-6', ' ok 8-9']]);
    recording.take(batchOf('attempts', [attempt(0, 2)]));
    recording.take(batchOf('graph', GRAPH));
    expect(lanesOf(tasks)).toEqual([['w/t', 'inc ok 2-3', 'sum ok 5-6', 'inc ok 8-9']]);
    const [lane] = tasks.lanes;
    expect([lane.at(5.5, 0), lane.at(7.5, 0.1), lane.at(7.5, 0.6), lane.at(1.9, 0.2)]).toEqual([1, -1, 2, 0]);
  });

  test('further columns of attempts place nothing twice', () => {
    const recording = recordingOf({
      graph: GRAPH,
      attempts: [{ run: 0, task: 0, worker: 'w', thread: 't', status: 'ok', start: 1, stop: 2 }]
    });
    const tasks = new Tasks(recording);
    recording.take({ ...batchOf('attempts', [{ done: 3, nbytes: 8 }]), from: 0 });
    expect(lanesOf(tasks)).toEqual([['w/t', 'inc ok 1-2']]);
    expect([tasks.count, recording.table('attempts').times('done')[0]]).toEqual([1, 3]);
  });

  test('what runs is shown until it ends, in whichever order both arrive', () => {
    const recording = recordingOf({
      graph: GRAPH,
      running: [{ run: 0, task: 0, worker: 'w', thread: 't', start: 1 }]
    });
    const tasks = new Tasks(recording);
    expect(lanesOf(tasks)).toEqual([['w/t', 'inc running 1-…']]);
    recording.take(
      batchOf('attempts', [{ run: 0, task: 0, worker: 'w', thread: 't', status: 'ok', start: 1.1, stop: 2 }])
    );
    recording.take(batchOf('running', [{ run: 0, task: 0, worker: 'w', thread: 't', start: 1 }]));
    expect(lanesOf(tasks)).toEqual([['w/t', 'inc ok 1.1-2']]);
    expect(tasks.count).toBe(1);
  });

  test('the lane of those whose thread is not known yet goes with the last of them', () => {
    const recording = recordingOf({ running: [{ run: 0, task: 0, worker: 'w', thread: '', start: 1 }] });
    const tasks = new Tasks(recording);
    expect(tasks.lanes.map(({ thread }) => thread)).toEqual(['']);
    recording.take(
      batchOf('attempts', [{ run: 0, task: 0, worker: 'w', thread: 't', status: 'ok', start: 1, stop: 2 }])
    );
    expect(tasks.lanes.map(({ thread }) => thread)).toEqual(['t']);
    expect(tasks.count).toBe(1);
  });

  test('a killed attempt is where it was seen running, and lost where it was not; a failed one where its worker saw it', () => {
    const recording = recordingOf({
      graph: GRAPH,
      attempts: [
        { run: 0, task: 0, worker: 'w', status: 'killed', assigned: 1, done: 9 },
        { run: 1, task: 1, worker: 'w', status: 'retried', assigned: 1, done: 9 },
        { run: 2, task: 2, worker: 'w', status: 'stolen', assigned: 1, done: 9 }
      ]
    });
    const tasks = new Tasks(recording);
    expect(lanesOf(tasks)).toEqual([['w/', 'inc lost 1-9']]);
    expect([tasks.count, tasks.totals.counts[1], tasks.totals.seconds[1]]).toEqual([1, 1, 0]);
    expect([...tasks.unplaced]).toEqual([
      ['retried', 1],
      ['stolen', 1]
    ]);
    recording.take(batchOf('running', [{ run: 0, task: 0, worker: 'w', thread: 't', start: 3 }]));
    recording.take(
      batchOf('executions', [{ run: 1, worker: 'w', thread: 'u', start: 4, stop: 5, ended: 6 }])
    );
    expect(lanesOf(tasks)).toEqual([
      ['w/t', 'inc killed 3-9'],
      ['w/u', 'sum retried 4-5']
    ]);
    expect([tasks.count, tasks.unplaced.get('retried'), tasks.unplaced.get('stolen')]).toEqual([2, 0, 1]);
    expect([tasks.totals.counts[1], tasks.totals.seconds[1]]).toEqual([1, 6]);
  });

  test('many times that a worker tells at once, in whichever order', () => {
    const attempts = Array.from({ length: 60 }, (_, run) => ({
      run,
      task: run % 4,
      worker: 'w',
      thread: `t${run % 2}`,
      status: 'ok',
      start: run,
      stop: run + 1
    }));
    const executions = Array.from({ length: 50 }, (_, at) => {
      const run = (at * 17) % 50;
      const start = run + ((at * 29) % 23) - 11;
      return { run, worker: 'w', thread: `t${run % 2}`, start, stop: start + 0.5, ended: start + 1 };
    });
    // The last word on a run counts.
    executions.push({ ...executions[3], start: 40.25, stop: 41 }, { ...executions[7], start: 2.25, stop: 3 });
    const recording = recordingOf({ graph: GRAPH, attempts });
    const tasks = new Tasks(recording);
    const [lane] = tasks.lanes;
    const version = lane.version;
    recording.take(batchOf('executions', executions.slice(0, 20)));
    recording.take(batchOf('executions', executions.slice(20)));
    const whole = new Tasks(recordingOf({ graph: GRAPH, executions, attempts }));
    expect(lanesOf(tasks)).toEqual(lanesOf(whole));
    expect([...lane.reach.subarray(0, lane.length)]).toEqual([
      ...whole.lanes[0].reach.subarray(0, lane.length)
    ]);
    expect([0, 1, 2].map(name => tasks.totals.seconds[name])).toEqual(
      [0, 1, 2].map(name => expect.closeTo(whole.totals.seconds[name], 9))
    );
    expect(tasks.count).toBe(60);
    expect(lane.since(version)).toBe(
      Math.min(...executions.filter(({ run }) => run % 2 === 0).map(({ start }) => start), 0)
    );
  });

  test('times that a worker tells replace the estimate, whichever comes first', () => {
    const attempt = (run: number, start: number): Record<string, number | string> => ({
      run,
      task: run,
      worker: 'w',
      thread: 't',
      status: 'ok',
      start,
      stop: start + 1
    });
    const executions = [
      { run: 0, worker: 'w', start: 0.5, stop: Number.NaN },
      { run: 1, worker: 'w', start: Number.NaN, stop: 2.75 },
      { run: 2, worker: 'w', start: Number.NaN, stop: Number.NaN }
    ];
    const attempts = [attempt(0, 1), attempt(1, 2), attempt(2, 3)];
    const expected = [['w/t', 'inc ok 0.5-2', 'sum ok 2-2.75', 'inc ok 3-4']];
    const later = recordingOf({ graph: GRAPH, attempts });
    const tasks = new Tasks(later);
    const { version } = tasks.lanes[0];
    later.take(batchOf('executions', executions));
    expect(lanesOf(tasks)).toEqual(expected);
    expect(tasks.lanes[0].since(version)).toBe(0.5);
    expect([tasks.count, tasks.totals.seconds[1], tasks.totals.counts[1]]).toEqual([3, 2.5, 2]);
    const earlier = recordingOf({ graph: GRAPH, executions });
    const others = new Tasks(earlier);
    earlier.take(batchOf('attempts', attempts));
    expect(lanesOf(others)).toEqual(expected);
    expect(lanesOf(new Tasks(earlier))).toEqual(expected);
  });

  test('all is as if it had come at once when rows are replaced by others', () => {
    const recording = recordingOf({
      graph: GRAPH,
      attempts: [{ run: 0, task: 0, worker: 'w', thread: 't', status: 'ok', start: 1, stop: 2 }]
    });
    const tasks = new Tasks(recording);
    let told = 0;
    tasks.onChange(() => told++);
    recording.replace(
      recordingOf({
        graph: [{ task: 9, key: 'mul-9', prefix: 'mul' }],
        attempts: [{ run: 4, task: 9, worker: 'v', thread: 'u', status: 'ok', start: 7, stop: 8 }]
      })
    );
    expect(lanesOf(tasks)).toEqual([['v/u', 'mul ok 7-8']]);
    expect([told, tasks.count, tasks.attemptRow(0), tasks.totals.counts[1]]).toEqual([1, 1, -1, 1]);
  });

  test('tasks that were worked out before take over, and go on', () => {
    const attempt = (run: number, start: number): Record<string, number | string> => ({
      run,
      task: run,
      worker: 'w',
      thread: 't',
      status: 'ok',
      start,
      stop: start + 1
    });
    const recording = recordingOf({ attempts: [attempt(0, 1)] });
    const tasks = new Tasks(recording);
    const next = recordingOf({ graph: GRAPH, workers: [{ worker: 'w', name: 'one' }] });
    const later = new Tasks(next);
    tasks.succeed(later);
    next.take(batchOf('attempts', [attempt(1, 5)]));
    recording.replace(next);
    expect(lanesOf(tasks)).toEqual([['w/t', 'sum ok 5-6']]);
    recording.take(batchOf('attempts', [attempt(2, 7)]));
    recording.take(batchOf('workers', [{ worker: 'w', name: 'two' }]));
    expect(lanesOf(tasks)).toEqual([['w/t', 'sum ok 5-6', 'inc ok 7-8']]);
    expect([tasks.count, tasks.attemptRow(2), tasks.workerName('w')]).toEqual([2, 1, 'two']);
  });

  test('attempts, inputs and dependents of a task', () => {
    const tasks = new Tasks(
      recordingOf({
        graph: GRAPH,
        edges: [
          { task: 1, dependency: 0 },
          { task: 1, dependency: 2 }
        ],
        attempts: [
          { run: 1, task: 1, worker: 'w', thread: 't', status: 'retried', start: 3, stop: 4 },
          { run: 2, task: 1, worker: 'w', thread: 't', status: 'ok', start: 5, stop: 6 },
          { run: 0, task: 1, worker: 'w', thread: 't', status: 'retried', start: 1, stop: 2 }
        ]
      })
    );
    // A file may have its rows in another order.
    expect(tasks.attemptRows(1)).toEqual([1, 0, 2]);
    expect(tasks.degree(1)).toEqual({ inputs: 2, dependents: 0 });
    expect(tasks.degree(0)).toEqual({ inputs: 0, dependents: 1 });
    expect(tasks.inputRows(1, 1)).toHaveLength(1);
  });
});
