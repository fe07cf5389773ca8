import { describe, expect, test } from 'vitest';
import { type CriticalPath, criticalPathOf } from '../../core/critical-path';
import { Tasks } from '../../core/tasks';
import { recordingOf } from '../../core/test-recording';
import { PathSegments } from './path-segments';

type Tile = readonly [stop: number, run: number, thread: string];

function pathOf(tiles: readonly Tile[]): CriticalPath {
  const rows = tiles.map(([stop, run, thread], at) => ({
    start: at === 0 ? 0 : tiles[at - 1][0],
    stop,
    kind: 'compute',
    because: 'input',
    task: run,
    run,
    worker: thread === '' ? '' : 'w',
    thread
  }));
  return criticalPathOf(new Tasks(recordingOf({ critical: rows })));
}

function drawn(path: CriticalPath, perPixel = 1, start = 0, width = 100): (readonly number[])[] {
  const segments = new PathSegments();
  const laneOf = Int32Array.from(path.threads, ({ thread }) => (thread === '' ? -1 : Number(thread)));
  segments.fill(path, { start, stop: start + width * perPixel, perPixel, width }, laneOf);
  const { from, to, lane, joined } = segments;
  return Array.from({ length: segments.count }, (_, at) => [from[at], to[at], lane[at], joined[at]]);
}

describe('PathSegments', () => {
  test('stretches follow one another and are joined', () => {
    const path = pathOf([
      [5, 9, ''],
      [20, 1, '0'],
      [30, 2, '1'],
      [40, 3, '0']
    ]);
    expect(drawn(path)).toEqual([
      [5, 20, 0, 0],
      [20, 30, 1, 1],
      [30, 40, 0, 1]
    ]);
  });

  test('within a pixel the longest stands for all, and nothing narrow is joined', () => {
    const tiles = Array.from(
      { length: 1000 },
      (_, at): Tile => [Math.floor(at / 2) * 0.1 + (at % 2 === 0 ? 0.03 : 0.1), at, String(at % 2)]
    );
    const found = drawn(pathOf(tiles));
    expect(found.length).toBe(50);
    expect(found.every(([, , lane, joined]) => lane === 1 && joined === 0)).toBe(true);
  });

  test('what is out of sight costs nothing and does not stick out far', () => {
    const path = pathOf([
      [50, 1, '0'],
      [60, 2, '1'],
      [500, 3, '0']
    ]);
    expect(drawn(path, 1, 55, 20)).toEqual([
      [-2, 5, 1, 0],
      [5, 22, 0, 1]
    ]);
    expect(drawn(path, 1, 600, 20)).toEqual([]);
  });
});
