import { describe, expect, test } from 'vitest';
import { Lane, OK, RUNNING, statusCode } from '../../core/lane';
import { CHOSEN, EMPTY, ERRED, FIRST_NAME, FULL, filling, HIDDEN, PLAIN, Raster, RETRIED } from './cells';
import { Levels } from './levels';

type Entry = readonly [start: number, stop: number, name: number, status?: string];

function laneOf(entries: readonly Entry[]): Lane {
  const lane = new Lane('w', 't');
  entries.forEach(([start, stop, name, status], row) => {
    lane.add(start, stop, name, status === undefined ? OK : statusCode(status), row);
  });
  return lane;
}

function cellsOf(
  lane: Lane,
  columns: number,
  roles = [PLAIN, PLAIN, PLAIN],
  start = 0,
  width = 1,
  now = 1e9
): number[] {
  const cells = new Uint32Array(columns);
  new Raster().fill(lane, cells, 0, 0, columns, { start, width, now }, Uint8Array.from(roles));
  return [...cells];
}

/** The name that fills each pixel, '.' where there is none. */
const names = (cells: readonly number[]): string =>
  cells.map(cell => (cell === EMPTY ? '.' : String(filling(cell) - FIRST_NAME))).join('');

describe('Raster', () => {
  test('the name with most time fills the pixel, and the pixel says how full it is', () => {
    const cells = cellsOf(
      laneOf([
        [0.1, 0.3, 0],
        [0.3, 0.8, 1],
        [0.8, 0.9, 0],
        [2.5, 3, 2]
      ]),
      4
    );
    expect(names(cells)).toBe('1.2.');
    expect((cells[0] & FULL) / FULL).toBeCloseTo(0.8, 1);
    expect((cells[2] & FULL) / FULL).toBeCloseTo(0.5, 1);
  });

  test('no task disappears, however short', () => {
    const entries = Array.from({ length: 40 }, (_, index): Entry => [index + 0.5, index + 0.5, index % 3]);
    expect(cellsOf(laneOf(entries), 40).every(cell => cell !== EMPTY && (cell & FULL) > 0)).toBe(true);
  });

  test('a long task fills its pixels and has an edge; one that runs on at the end has none', () => {
    const cells = cellsOf(
      laneOf([
        [0, 7.7, 1],
        [7.7, 30, 2]
      ]),
      12
    );
    expect(names(cells)).toBe('111111112222');
    expect(cells[6] & FULL).toBeLessThan(FULL);
    expect(cells[11] & FULL).toBe(FULL);
  });

  test('what began before the first column is there', () => {
    expect(names(cellsOf(laneOf([[-50, 2, 1]]), 4))).toBe('11..');
  });

  test('what still runs ends now', () => {
    const lane = new Lane('w', 't');
    lane.add(1, Number.POSITIVE_INFINITY, 2, RUNNING, 0);
    expect(names(cellsOf(lane, 6, undefined, 0, 1, 4))).toBe('.222..');
  });

  test('failures override, the strongest first, in every pixel that they touch', () => {
    const lane = laneOf([
      [0, 0.9, 0],
      [0.9, 0.91, 1, 'erred'],
      [1.1, 1.2, 1, 'retried'],
      [1.2, 2, 0],
      [3, 5.5, 2, 'erred']
    ]);
    expect(cellsOf(lane, 6).map(filling)).toEqual([ERRED, RETRIED, EMPTY, ERRED, ERRED, ERRED]);
  });

  test('a chosen name shows in every pixel it has a part in; a hidden one in none', () => {
    const lane = laneOf([
      [0, 0.9, 0],
      [0.9, 1, 1],
      [1, 2, 0]
    ]);
    expect(names(cellsOf(lane, 2, [PLAIN, CHOSEN, PLAIN]))).toBe('10');
    expect(names(cellsOf(lane, 2, [HIDDEN, PLAIN, PLAIN]))).toBe('1.');
  });

  test('columns do not depend on where the picture begins', () => {
    const lane = laneOf(
      Array.from({ length: 3000 }, (_, i): Entry => [i * 0.37, i * 0.37 + ((i * 7) % 30) / 100, i % 3])
    );
    const whole = cellsOf(lane, 1000);
    expect(cellsOf(lane, 300, undefined, 400)).toEqual(whole.slice(400, 700));
  });

  test('a part of the columns is the same as all of them, wherever it begins and ends', () => {
    const lane = laneOf(
      Array.from({ length: 60 }, (_, i): Entry => [i * 7.13, i * 7.13 + ((i * 31) % 67) / 10, i % 3])
    );
    const roles = Uint8Array.of(PLAIN, PLAIN, PLAIN);
    const whole = cellsOf(lane, 400);
    for (let from = 0; from < 60; from++) {
      const cells = Uint32Array.from(whole);
      const columns = { start: 0, width: 1, now: 1e9 };
      new Raster().fill(lane, cells, 0, 3 * from, 3 * from + 100 + from, columns, roles);
      expect([...cells]).toEqual(whole);
    }
  });

  test('what overlaps is the same from wherever the picture begins, and hides no failure', () => {
    const lane = laneOf([
      [0.2, 10.4, 0],
      [2.5, 3.5, 1],
      [5.1, 6.2, 1, 'erred'],
      [8.6, 12.3, 2],
      [9, 10.2, 1]
    ]);
    const whole = cellsOf(lane, 16);
    expect(whole.map(filling).slice(0, 9)).toEqual([4, 4, 4, 4, 4, ERRED, ERRED, 4, 4]);
    for (let from = 1; from < 13; from++) {
      expect(cellsOf(lane, 16 - from, undefined, from)).toEqual(whole.slice(from));
    }
  });

  test('idle time is as much as it is', () => {
    const entries = Array.from(
      { length: 5000 },
      (_, index): Entry => [index * 0.2, index * 0.2 + 0.1, index % 3]
    );
    const cells = cellsOf(laneOf(entries), 1000);
    const mean = cells.reduce((sum, cell) => sum + (cell & FULL) / FULL, 0) / cells.length;
    expect(mean).toBeCloseTo(0.5, 1);
  });
});

describe('Levels', () => {
  const entries = Array.from({ length: 20_000 }, (_, i): Entry => {
    const start = i * 0.001;
    return [start, start + 0.0008, Math.floor(i / 537) % 3, i % 4001 === 7 ? 'erred' : 'ok'];
  });
  const lane = laneOf(entries);
  const roles = Uint8Array.of(PLAIN, PLAIN, PLAIN);

  test('show the same names as the exact picture, and every failure', () => {
    const levels = new Levels();
    expect(levels.build([lane], roles, 0, 20, 1e6)).toBe(true);
    for (const columns of [100, 333, 1000]) {
      const width = 20 / columns;
      const level = levels.levelFor(width);
      expect(level).toBeGreaterThanOrEqual(0);
      const cells = new Uint32Array(columns);
      levels.fill(lane, level, cells, 0, 0, columns, 0, width);
      const exact = cellsOf(lane, columns, undefined, 0, width);
      // A bucket that lies in two columns may carry its failure into both.
      const sound = exact.map((_, at) => at).filter(at => filling(cells[at]) !== ERRED);
      const alike = sound.filter(at => filling(exact[at]) === filling(cells[at]));
      expect(alike.length / sound.length).toBeGreaterThan(0.98);
      const failures = (all: ArrayLike<number>): number[] =>
        Array.from(all).flatMap((cell, at) => (filling(cell) === ERRED ? [at] : []));
      expect(failures(cells)).toEqual(expect.arrayContaining(failures(exact)));
    }
  });

  test('let go of lanes that are no more, as those of a recording that was replaced', () => {
    const levels = new Levels();
    const other = laneOf(entries);
    levels.build([lane], roles, 0, 20, 1e6);
    levels.build([other], roles, 0, 20, 1e6);
    const [level, cells] = [levels.levelFor(0.05), new Uint32Array(400)];
    const fill = (of: Lane): boolean => {
      levels.fill(of, level, cells, 0, 0, 400, 0, 0.05);
      return cells.some(cell => cell !== EMPTY);
    };
    expect([fill(lane), fill(other)]).toEqual([false, true]);
  });

  test('are built in slices, and extended by what is added at the end', () => {
    const growing = laneOf(entries.slice(0, 15_000));
    const levels = new Levels();
    expect(levels.build([growing, lane], roles, 0, 20, -1)).toBe(false);
    while (!levels.build([growing, lane], roles, 0, 20, -1));
    for (const [start, stop, name, status] of entries.slice(15_000)) {
      growing.add(start, stop, name, statusCode(status ?? 'ok'), growing.length);
    }
    while (!levels.build([growing, lane], roles, 0, 20, -1));
    const level = levels.levelFor(0.05);
    const [one, other] = [growing, lane].map(each => {
      const cells = new Uint32Array(400);
      levels.fill(each, level, cells, 0, 0, 400, 0, 0.05);
      return [...cells];
    });
    expect(one).toEqual(other);
  });
});
