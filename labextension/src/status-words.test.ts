import { expect, test } from 'vitest';
import { readState } from './kernels/kernel-state';
import { statusWords } from './status-words';

const tasks = { total: 138, done: 137, erred: 1 };
const local = { workers: 1, threads: 2, memory: null, memory_limit: null, tasks };

const clusterOf = (threads: number, memory: number | null) => ({
  address: 'tcp://a',
  workers: 1,
  threads,
  memory,
  memory_limit: memory && 4 * memory,
  tasks
});

test.each([
  [
    'clusters beside local schedulers',
    [clusterOf(1, 1e9), clusterOf(2, 1e9)],
    local,
    /^Dask: 3 threads, .+ of .+, 411 of 414 tasks, 3 failed$/
  ],
  ['local schedulers, which have no memory of their own', [], local, /^Dask: 137 of 138 tasks, 1 failed$/],
  [
    'a cluster whose memory is not known yet',
    [clusterOf(1, null)],
    null,
    /^Dask: 1 thread, 137 of 138 tasks, 1 failed$/
  ],
  ['nothing', [], null, /^$/]
])('says what there is: %s', (_, clusters, own, words) => {
  expect(statusWords(readState({ clusters, local: own }))).toMatch(words);
});

test('says nothing where no kernel tells anything', () => {
  expect(statusWords(undefined)).toBe('');
});
