import { expect, test } from 'vitest';
import { Lane, OK, statusCode } from '../../core/lane';
import { CHOSEN, filling, HIDDEN, PLAIN, Raster } from './cells';
import type { Choice } from './choice';
import { entryAt } from './marks';

type Entry = readonly [start: number, stop: number, name: number, status?: string];

/** The entry met in the first pixel of a second, as it is painted. */
function met(entries: readonly Entry[], roles: readonly number[] = [PLAIN, PLAIN, PLAIN]) {
  const lane = new Lane('w', 't');
  entries.forEach(([start, stop, name, status], row) => {
    lane.add(start, stop, name, status === undefined ? OK : statusCode(status), row);
  });
  const cells = new Uint32Array(1);
  const columns = { start: 0, width: 1, now: 99 };
  new Raster().fill(lane, cells, 0, 0, 1, columns, Uint8Array.from(roles));
  const choice = { shows: ({ name }: Lane, entry: number) => roles[name[entry]] !== HIDDEN } as Choice;
  return entryAt(lane, 0, 1, 3, filling(cells[0]), choice);
}

test('of the name that has most of a pixel, its longest task is met', () => {
  const entries: Entry[] = [
    [0, 0.2, 0],
    [0.2, 0.5, 1],
    [0.5, 0.75, 0],
    [0.8, 9, 2]
  ];
  expect(met(entries)).toEqual({ entry: 2, others: 3 });
  expect(met(entries, [PLAIN, PLAIN, CHOSEN])?.entry).toBe(3);
  expect(met(entries, [HIDDEN, PLAIN, PLAIN])).toEqual({ entry: 1, others: 1 });
});

test('a failure is met behind however many others', () => {
  const many = Array.from({ length: 5000 }, (_, at): Entry => [at / 6000, (at + 0.5) / 6000, 0]);
  expect(met([...many, [0.9, 0.90001, 1, 'erred']])).toEqual({ entry: 5000, others: 5000 });
  expect(met(many)?.entry).toBeLessThan(5000);
});

test('where a pixel is empty the nearest is met that is shown', () => {
  expect(met([[3, 4, 1]])).toEqual({ entry: 0, others: 0 });
  expect(met([[3, 4, 1]], [PLAIN, HIDDEN])).toBeUndefined();
  expect(met([[4, 5, 1]])).toBeUndefined();
});
