import { expect, test } from 'vitest';
import { binnedHeld, Held } from './held';
import { Selection } from './selection';
import { Tasks } from './tasks';
import { batchOf, type Row, recordingOf } from './test-recording';

const GRAPH = [0, 1, 2].map(task => ({ task, key: `k${task}`, prefix: task < 2 ? 'load' : 'sum' }));
const ATTEMPTS: readonly Row[] = [
  { run: 0, task: 0, worker: 'a', thread: '1', status: 'ok', start: 0.5, stop: 0.9, done: 1, nbytes: 100 },
  { run: 1, task: 1, worker: 'b', thread: '1', status: 'ok', start: 1, stop: 1.9, done: 2, nbytes: 50 },
  { run: 2, task: 2, worker: 'a', thread: '1', status: 'erred', start: 2, stop: 2.9, done: 3 },
  { run: 3, task: 2, worker: 'a', thread: '1', status: 'ok', start: 3, stop: 3.9, done: 4, nbytes: 8 },
  // Lost with a worker, and computed again.
  { run: 4, task: 0, worker: 'b', thread: '1', status: 'ok', start: 5, stop: 5.9, done: 6, nbytes: 100 }
];
const EDGES: readonly Row[] = [
  { task: 2, dependency: 0 },
  { task: 2, dependency: 1 }
];
const RELEASES: readonly Row[] = [
  { task: 1, time: 4.5 },
  { task: 0, time: 5 },
  { task: 0, time: 7 }
];

const OTHERS: readonly Row[] = [{ name: 'source', value: '{"tool": "another"}' }];

function held(releases: readonly Row[], about: readonly Row[] = releases.length > 0 ? [] : OTHERS): Held {
  const made = new Held(
    new Tasks(recordingOf({ about, graph: GRAPH, attempts: ATTEMPTS, edges: EDGES, releases }))
  );
  made.update();
  return made;
}

const ends = (of: Held): number[][] =>
  Array.from({ length: of.length }, (_, at) => [of.begin[at], of.end[at], of.bytes[at]]);

test('each result is held until it is let go of, and what was computed again twice', () => {
  const all = held(RELEASES);
  expect(all.guessed).toBe(false);
  expect(ends(all)).toEqual([
    [1, 5, 100],
    [2, 4.5, 50],
    [4, Number.POSITIVE_INFINITY, 8],
    [6, 7, 100]
  ]);
  expect(all.update()).toBe(false);
});

test('where nobody tells, until the last task that needs it has ended', () => {
  const all = held([]);
  expect(all.guessed).toBe(true);
  expect(ends(all).map(([, end]) => end)).toEqual([4, 4, Number.POSITIVE_INFINITY, 6]);
});

test.each([
  ['used twice', [EDGES[0]], [5, 6, 6, Number.POSITIVE_INFINITY]],
  ['never used', [], [5, 6, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]]
])('results of a task that ran again are held until then at most: %s', (_, edges, expected) => {
  const attempts = [1, 2, 5, 6].map((done, run) => ({
    ...ATTEMPTS[0],
    run,
    task: (run % 2) * 2,
    stop: done,
    done
  }));
  for (const rows of [attempts, [...attempts].reverse()]) {
    const all = new Held(new Tasks(recordingOf({ about: OTHERS, graph: GRAPH, attempts: rows, edges })));
    all.update();
    const found = ends(all).map(([, end]) => end);
    expect(found).toEqual(rows === attempts ? expected : [...expected].reverse());
  }
});

test('a recording of our own that tells of none yet has let go of none', () => {
  const all = held([], []);
  expect(all.guessed).toBe(false);
  expect(ends(all).map(([, end]) => end)).toEqual(Array(4).fill(Number.POSITIVE_INFINITY));
});

test('where neither releases nor edges were kept, nothing is taken, and why is told', () => {
  const about = [{ name: 'lacks', value: '{"releases": "Left out.", "edges": "Left out."}' }];
  const of = (edges: readonly Row[]): Held => {
    const made = new Held(new Tasks(recordingOf({ about, graph: GRAPH, attempts: ATTEMPTS, edges })));
    made.update();
    return made;
  };
  expect([of([]).length, of([]).lack]).toEqual([0, 'Left out.']);
  expect([of(EDGES).length, of(EDGES).lack]).toEqual([4, undefined]);
});

test('bins have means, however brief or long results are held', () => {
  const all = held(RELEASES);
  const layers = [0, 0, 1, 0];
  const [load, sum] = binnedHeld(all, layers, 2, 0, 8, 4);
  expect([...load]).toEqual([50, 150, 62.5, 50]);
  expect([...sum]).toEqual([0, 0, 8, 8]);
  expect(binnedHeld(all, layers, 1, 0, 8, 4)).toHaveLength(1);
  const total = (bins: number): number =>
    binnedHeld(all, layers, 2, 0.25, 7.75, bins)[0].reduce((a, b) => a + b, 0) * (7.5 / bins);
  for (const bins of [1, 3, 17, 400]) expect(total(bins)).toBeCloseTo(100 * 4 + 50 * 2.5 + 100, 6);
});

test('a filter leaves those of its workers', () => {
  const all = held(RELEASES);
  const selection = new Selection();
  selection.set({ source: 'elsewhere', column: 'worker', value: ['b'] });
  const passes = all.passing(selection.filter());
  expect([0, 1, 2, 3].map(passes)).toEqual([false, true, false, true]);
});

test('rows that come one by one give what they give at once', () => {
  const recording = recordingOf({ graph: GRAPH, edges: EDGES });
  const live = new Held(new Tasks(recording));
  const at = (row: Row): number => Number(row.done ?? row.time);
  const rows = [...ATTEMPTS, ...RELEASES].sort((a, b) => at(a) - at(b));
  for (const row of rows) {
    recording.take(batchOf(row.status ? 'attempts' : 'releases', [row]));
    live.update();
  }
  expect(ends(live)).toEqual(ends(held(RELEASES)));
});

test('the only result of a task is let go of when somebody told so, whatever the clocks say', () => {
  const attempts = [{ ...ATTEMPTS[0], done: 1, stop: 1.003 }];
  const one = new Held(
    new Tasks(recordingOf({ graph: GRAPH, attempts, releases: [{ task: 0, time: 1.002 }] }))
  );
  one.update();
  expect(ends(one)).toEqual([[1.003, 1.003, 100]]);
});

test('a task that failed needed its inputs too; one that never ran did not', () => {
  const attempts = [ATTEMPTS[0], ATTEMPTS[1], { ...ATTEMPTS[2], task: 2, done: 3 }];
  const edges = [EDGES[0], { task: 9, dependency: 1 }];
  const all = new Held(new Tasks(recordingOf({ about: OTHERS, graph: GRAPH, attempts, edges })));
  all.update();
  expect(ends(all).map(([, end]) => end)).toEqual([3, Number.POSITIVE_INFINITY]);
});

test.each([true, false])('results of a run that has gone on for long cost no more: ends told: %s', told => {
  const far = (rows: readonly Row[]): Row[] =>
    rows.map(row => {
      const moved = { ...row, task: 30_000_000 + Number(row.task) };
      return row.dependency === undefined
        ? moved
        : { ...moved, dependency: 30_000_000 + Number(row.dependency) };
    });
  const releases = told ? RELEASES : [];
  const tasks = new Tasks(
    recordingOf({
      about: told ? [] : OTHERS,
      graph: far(GRAPH),
      attempts: far(ATTEMPTS),
      edges: far(EDGES),
      releases: far(releases)
    })
  );
  const before = process.memoryUsage().arrayBuffers;
  const all = new Held(tasks);
  all.update();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4e6);
  expect(ends(all)).toEqual(ends(held(releases)));
});
