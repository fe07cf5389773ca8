import { describe, expect, test } from 'vitest';
import { criticalPathOf, KINDS } from '../../core/critical-path';
import { Tasks } from '../../core/tasks';
import { recordingOf } from '../../core/test-recording';
import { EMPTY, FIRST_NAME, PathRaster } from './raster';

type Tile = readonly [stop: number, kind: (typeof KINDS)[number], task: number];

/** A path of tiles that begin where the one before ends; tasks 1 and 2 are called a and b. */
function cellsOf(tiles: readonly Tile[], columns: number, start = 0, width = 1): string {
  const tasks = new Tasks(
    recordingOf({
      graph: [
        { task: 1, key: 'a-1', prefix: 'a' },
        { task: 2, key: 'b-2', prefix: 'b' }
      ],
      critical: tiles.map(([stop, kind, task], at) => ({
        start: at === 0 ? 0 : tiles[at - 1][0],
        stop,
        kind,
        because: 'input',
        task,
        run: at
      }))
    })
  );
  const cells = new PathRaster().fill(criticalPathOf(tasks), columns, start, width);
  return Array.from(cells, cell =>
    cell === EMPTY
      ? '.'
      : cell >= FIRST_NAME
        ? tasks.names[cell - FIRST_NAME]
        : KINDS[cell - 1][0].toUpperCase()
  ).join('');
}

describe('PathRaster', () => {
  test('a tile fills its pixels, computing with its name, waiting with its kind', () => {
    expect(
      cellsOf(
        [
          [2, 'client', 1],
          [5, 'compute', 1],
          [6, 'transfer', 2],
          [9, 'compute', 2]
        ],
        11
      )
    ).toBe('CCaaaTbbb..');
  });

  test('a pixel shows what has most of its time', () => {
    expect(
      cellsOf(
        [
          [1.2, 'compute', 1],
          [1.3, 'transfer', 1],
          [1.9, 'compute', 2],
          [2.4, 'compute', 1]
        ],
        3
      )
    ).toBe('aba');
  });

  test('many short tiles of one name outweigh a longer one', () => {
    const tiles: Tile[] = [];
    for (let at = 0; at < 10; at++)
      tiles.push([at * 0.1 + 0.06, 'compute', 1], [at * 0.1 + 0.1, 'transfer', 2]);
    expect(cellsOf(tiles, 1)).toBe('a');
  });

  test('a part is the same as the whole', () => {
    const tiles = Array.from(
      { length: 200 },
      (_, at): Tile => [(at + 1) * 0.37, KINDS[(at * 5) % KINDS.length], 1 + (at % 2)]
    );
    const whole = cellsOf(tiles, 74);
    expect(cellsOf(tiles, 30, 20)).toBe(whole.slice(20, 50));
  });
});
