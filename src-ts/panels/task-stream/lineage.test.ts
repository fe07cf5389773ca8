import { beforeEach, describe, expect, test } from 'vitest';
import { Tasks } from '../../core/tasks';
import { type Row, recordingOf } from '../../core/test-recording';
import { PLAIN } from '../../draw/theme';
import { drawLineage, type Lineage, lineageOf } from './lineage';
import type { Place } from './marks';

/** Tasks 1, 2 and 3 need 0; 4 needs 1, 2 and 3. Task 2 failed at first, 5 never ran on a thread. */
const ATTEMPTS: readonly Row[] = [
  { run: 0, task: 0, worker: 'w', thread: 'a', status: 'ok', start: 1, stop: 2 },
  { run: 1, task: 1, worker: 'w', thread: 'a', status: 'ok', start: 3, stop: 4 },
  { run: 2, task: 2, worker: 'w', thread: 'b', status: 'retried', start: 2.5, stop: 3.5 },
  { run: 3, task: 2, worker: 'w', thread: 'b', status: 'ok', start: 4, stop: 7 },
  { run: 4, task: 3, worker: 'w', thread: 'a', status: 'ok', start: 4, stop: 5 },
  { run: 5, task: 4, worker: 'w', thread: 'b', status: 'ok', start: 8, stop: 9 },
  { run: 6, task: 5, worker: 'w', status: 'stolen', done: 5 }
];
const EDGES = [
  ...[1, 2, 3, 5].map(task => ({ task, dependency: 0 })),
  ...[1, 2, 3].map(dependency => ({ task: 4, dependency }))
];

let tasks: Tasks;

beforeEach(() => {
  const graph = [0, 1, 2, 3, 4, 5].map(task => ({ task, key: `t-${task}`, prefix: `t${task}` }));
  tasks = new Tasks(recordingOf({ graph, attempts: ATTEMPTS, edges: EDGES }));
});

function lineage(run: number): Lineage {
  return lineageOf(tasks, tasks.entryOf(tasks.attemptRow(run)) as Place);
}

const starts = (places: readonly Place[]): number[] => places.map(({ lane, entry }) => lane.start[entry]);

describe('What a task waited for, and what waited for it', () => {
  test('the input that came last is first, by the attempt that gave the result', () => {
    expect(starts(lineage(5).inputs)).toEqual([4, 4, 3]);
    expect(lineage(5).inputs.map(({ lane }) => lane.thread)).toEqual(['b', 'a', 'a']);
    expect(lineage(5).dependents).toEqual([]);
  });

  test('the one that used the result first is first; what never ran has no place', () => {
    expect(starts(lineage(0).dependents)).toEqual([3, 4, 4]);
    expect(lineage(0).inputs).toEqual([]);
  });

  test('lines lead from the ends of inputs to the begin of a task, the one that held it up last and widest', () => {
    const drawn: [number, number, number, number, number][] = [];
    let from = [0, 0];
    let to = [0, 0];
    const pen = {
      lineWidth: 0,
      strokeStyle: '',
      save: () => {},
      restore: () => {},
      beginPath: () => {},
      rect: () => {},
      clip: () => {},
      strokeRect: () => {},
      moveTo: (x: number, y: number) => {
        from = [x, y];
      },
      lineTo: (x: number, y: number) => {
        to = [x, y];
      },
      stroke: () => {
        drawn.push([from[0], from[1], to[0], to[1], pen.lineWidth]);
      }
    };
    const plot = { x: 0, y: 0, width: 100, height: 40 };
    const boxOf = ({ lane, entry }: Place): { x: number; y: number; width: number; height: number } => ({
      x: 10 * lane.start[entry],
      y: lane.thread === 'a' ? 0 : 20,
      width: 10 * (lane.stop[entry] - lane.start[entry]),
      height: 20
    });
    const own = tasks.entryOf(tasks.attemptRow(5)) as Place;
    drawLineage(pen as never, plot, lineageOf(tasks, own), boxOf(own), boxOf, PLAIN);
    const seams = drawn.slice(0, drawn.length / 2);
    const lines = drawn.slice(drawn.length / 2);
    expect(lines.map(([x, y, ...end]) => [x, y, end[0], end[1]])).toEqual([
      [40, 10, 80, 30],
      [50, 10, 80, 30],
      [70, 30, 80, 30]
    ]);
    expect(lines.map(line => line[4])).toEqual([1, 1, 2]);
    expect(seams.every((seam, at) => seam[4] > lines[at][4])).toBe(true);
  });
});
