import { expect, test } from 'vitest';
import { Lane, OK, RUNNING } from './lane';

test('an arbitrary order of arrival ends in order', () => {
  const lane = new Lane('w', 't');
  const order = Array.from({ length: 500 }, (_, index) => (index * 181) % 500);
  order.forEach((start, row) => {
    lane.add(start, start + 0.5, 1, OK, row);
    if (row % 97 === 0) expect(lane.length).toBe(row + 1);
  });
  expect(lane.length).toBe(500);
  expect([...lane.start.subarray(0, 500)]).toEqual(Array.from({ length: 500 }, (_, index) => index));
  expect(order[lane.row[123]]).toBe(123);
  expect(lane.reach[499]).toBe(499.5);
});

test('takes no room before anything ran in it', () => {
  const [lane, other] = [new Lane('w', 't'), new Lane('w', 'u')];
  expect([lane.start.byteLength, lane.row.byteLength, lane.length]).toEqual([0, 0, 0]);
  lane.add(1, 2, 0, OK, 0);
  expect([lane.length, lane.at(1.5, 0), other.length, other.at(1.5, 0)]).toEqual([1, 0, 0, -1]);
});

test('tells from when on something has changed', () => {
  const lane = new Lane('w', 't');
  lane.add(1, 2, 0, OK, 0);
  lane.add(3, 4, 0, OK, 1);
  const { version } = lane;
  expect(lane.since(version)).toBe(Number.POSITIVE_INFINITY);
  lane.add(5, 6, 0, OK, 2);
  expect(lane.since(version)).toBe(5);
  lane.add(2, 3, 0, OK, 3);
  expect([lane.length, lane.since(version), lane.since(0)]).toEqual([4, 2, 1]);
});

test('entries are taken out by start, row and kind, also before they were in order', () => {
  const lane = new Lane('w', 't');
  lane.add(5, Number.POSITIVE_INFINITY, 0, RUNNING, 0);
  lane.add(5, 6, 0, OK, 0);
  lane.add(1, 2, 0, OK, 1);
  const { version } = lane;
  expect([lane.remove(5, 0, true), lane.running, lane.length]).toEqual([true, 0, 2]);
  expect([...lane.stop.subarray(0, 2)]).toEqual([2, 6]);
  expect(lane.reach[1]).toBe(6);
  expect(lane.since(version)).toBe(5);
  expect([lane.remove(7, 0, false), lane.remove(5, 0, true), lane.length]).toEqual([false, false, 2]);
  expect(lane.firstAfter(2)).toBe(1);
});

test('a long entry is found behind later short ones', () => {
  const lane = new Lane('w', 't');
  lane.add(0, 100, 0, OK, 0);
  for (let row = 1; row < 50; row++) lane.add(row, row + 0.1, 0, OK, row);
  expect(lane.length).toBe(50);
  expect(lane.firstAfter(80)).toBe(0);
  expect(lane.at(80, 0)).toBe(0);
});

test('entries that come by column are as if they had come one by one', () => {
  const starts = [3, 1, 2, 2, 9, 4, 8, 11];
  const columns = {
    start: Float64Array.from(starts),
    stop: Float64Array.from(starts, (start, at) => start + (at === 2 ? 100 : 0.5)),
    name: Uint16Array.from(starts, (_, at) => at % 3),
    status: Uint8Array.from(starts, (_, at) => (at === 5 ? RUNNING : OK)),
    from: 40
  };
  const one = new Lane('w', 't');
  const all = new Lane('w', 't');
  for (const [from, to] of [
    [1, 4],
    [4, 4],
    [5, 8],
    [0, 1]
  ]) {
    all.addAll(columns, from, to);
    for (let at = from; at < to; at++)
      one.add(columns.start[at], columns.stop[at], columns.name[at], columns.status[at], 40 + at);
  }
  const told = (lane: Lane): unknown => {
    const { length } = lane;
    return [lane.start, lane.stop, lane.reach, lane.name, lane.status, lane.row].map(column => [
      ...column.subarray(0, length)
    ]);
  };
  expect(told(all)).toEqual(told(one));
  expect([all.running, all.version, all.since(0)]).toEqual([one.running, one.version, one.since(0)]);
});
