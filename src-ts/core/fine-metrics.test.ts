import { describe, expect, it, vi } from 'vitest';
import { amountsOf, barsOf, ratesOf, unitsOf } from './fine-metrics';
import { Selection } from './selection';
import { batchOf, recordingOf } from './test-recording';

const row = (
  time: number,
  worker: string,
  context: string,
  prefix: string,
  activity: string,
  unit: string,
  value: number
) => ({
  time,
  worker,
  context,
  prefix,
  activity,
  unit,
  value
});

const recording = recordingOf({
  metrics: [
    row(1, 'a', 'execute', 'inc', 'thread-cpu', 'seconds', 2),
    row(2, 'b', 'execute', 'inc', 'thread-cpu', 'seconds', 1),
    row(2, 'a', 'execute', 'sum', 'thread-cpu', 'seconds', 4),
    row(2, 'a', 'execute', 'sum', 'disk-read', 'seconds', 1),
    row(2, 'a', 'execute', 'sum', 'disk-read', 'bytes', 1000),
    row(3, 'a', 'gather-dep', '', 'network', 'seconds', 5),
    row(3, 'b', 'get-data', '', 'serialize', 'seconds', 0.5),
    row(3, 'b', 'p2p', '', 'rows', 'rows', 7),
    row(3, 'b', 'toString', '', 'x', 'seconds', 1)
  ]
});
const everything = new Selection().filter();

describe('fine metrics', () => {
  it('have their units, the usual ones first', () => {
    expect(unitsOf(recording)).toEqual(['seconds', 'bytes', 'rows']);
  });

  it('are summed by context, name and activity, one unit at a time', () => {
    const amounts = amountsOf(recording, 'seconds', everything);
    expect(amounts.map(({ direction, name, activity, value }) => [direction, name, activity, value])).toEqual(
      [
        ['receive', '', 'network', 5],
        ['execute', 'sum', 'thread-cpu', 4],
        ['execute', 'inc', 'thread-cpu', 3],
        ['execute', 'sum', 'disk-read', 1],
        ['other', '', 'x', 1],
        ['send', '', 'serialize', 0.5]
      ]
    );
    expect(amountsOf(recording, 'bytes', everything).map(({ value }) => value)).toEqual([1000]);
    expect(amountsOf(recording, 'none', everything)).toEqual([]);
  });

  it('follow the selection', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'worker', value: ['b'] });
    expect(amountsOf(recording, 'seconds', selection.filter()).map(({ value }) => value)).toEqual([
      1, 1, 0.5
    ]);
    selection.set({ source: 'y', column: 'name', value: ['inc'] });
    expect(amountsOf(recording, 'seconds', selection.filter()).map(({ value }) => value)).toEqual([1]);
    selection.clear();
    selection.set({ source: 'x', column: 'time', value: { start: 0, stop: 1.5 } });
    expect(amountsOf(recording, 'seconds', selection.filter()).map(({ value }) => value)).toEqual([2]);
  });

  it('are read once a row, whatever their workers tell of their clocks', () => {
    const live = recordingOf({ metrics: [row(1, 'a', 'execute', 'inc', 'thread-cpu', 'seconds', 2)] });
    const table = live.table('metrics');
    let read = 0;
    const symbols = table.symbols.bind(table);
    vi.spyOn(table, 'symbols').mockImplementation(column => {
      const found = symbols(column);
      const get = (codes: Uint32Array, row: string): unknown => {
        if (column === 'unit') read++;
        return Reflect.get(codes, row);
      };
      return { ...found, codes: new Proxy(found.codes, { get: get as never }) };
    });
    const sum = (): number[] => amountsOf(live, 'seconds', everything).map(({ value }) => value);
    const before = amountsOf(live, 'seconds', everything);
    live.take(batchOf('clocks', [{ worker: 'a', time: 2 }]));
    expect([sum(), read]).toEqual([[2], 1]);
    live.take(batchOf('metrics', [row(3, 'a', 'execute', 'inc', 'thread-cpu', 'seconds', 5)]));
    live.take(batchOf('metrics', [row(3, 'a', 'execute', 'new', 'thread-cpu', 'seconds', 9)]));
    expect([sum(), read]).toEqual([[9, 7], 3]);
    expect(before[0].value).toBe(2);
    live.replace(recordingOf({ metrics: [row(1, 'a', 'execute', 'inc', 'thread-cpu', 'seconds', 1)] }));
    expect(sum()).toEqual([1]);
  });

  it.each([
    [2.5, 3.5, [1]],
    [3, 9, [1]],
    [0, 9, [2]],
    [0, 2, []],
    [4.5, 9, []]
  ])('are of the time since their worker was heard before: from %d to %d', (start, stop, told) => {
    const clock = (worker: string, time: number) => ({ worker, time });
    const clocks = [clock('a', 2), clock('b', 3), clock('a', 4)];
    const heard = recordingOf({
      clocks,
      metrics: [row(4, 'a', 'execute', 'inc', 'thread-cpu', 'seconds', 2)]
    });
    const selection = new Selection();
    selection.set({ source: 'x', column: 'time', value: { start, stop } });
    expect(amountsOf(heard, 'seconds', selection.filter()).map(({ value }) => value)).toEqual(told);
  });

  it('are a rate over their period, by activity, of execution alone', () => {
    const clocks = [0, 2, 4].map(time => ({ worker: 'a', time }));
    const metrics = [
      row(2, 'a', 'execute', 'inc', 'thread-cpu', 'seconds', 1),
      row(4, 'a', 'execute', 'sum', 'thread-cpu', 'seconds', 4),
      row(4, 'a', 'execute', 'inc', 'disk-read', 'seconds', 1),
      row(4, 'a', 'execute', 'inc', 'disk-read', 'bytes', 100),
      row(4, 'a', 'get-data', '', 'network', 'seconds', 8)
    ];
    const told = recordingOf({ clocks, metrics });
    const rates = (filter = everything): number[][] =>
      ratesOf(told, 'seconds', filter, 0, 6, 6).map(each => [...each]);
    const none = [0, 0, 0, 0, 0, 0];
    expect(rates()).toEqual([[0.5, 0.5, 2, 2, 0, 0], [0, 0, 0.5, 0.5, 0, 0], none]);
    const selection = new Selection();
    selection.set({ source: 'x', column: 'name', value: ['sum'] });
    expect(rates(selection.filter())).toEqual([[0, 0, 2, 2, 0, 0], none, none]);
  });

  it('have no rate where nothing tells since when they were counted', () => {
    const clocks = [2, 4].map(time => ({ worker: 'a', time }));
    const metrics = ['a', 'b'].flatMap(worker =>
      [2, 4].map(time => row(time, worker, 'execute', 'inc', 'thread-cpu', 'seconds', 1))
    );
    const told = recordingOf({ clocks, metrics });
    expect(ratesOf(told, 'seconds', everything, 0, 4, 4)).toEqual([Float64Array.of(0, 0, 0.5, 0.5)]);
  });

  it('make bars whose parts add up', () => {
    const amounts = amountsOf(recording, 'seconds', everything).filter(
      ({ direction }) => direction === 'execute'
    );
    const bars = barsOf(
      amounts,
      ({ name }) => name,
      ({ activity }) => activity
    );
    expect(bars.map(({ label, total }) => [label, total])).toEqual([
      ['sum', 5],
      ['inc', 3]
    ]);
    expect(bars[0].parts).toEqual([
      { label: 'thread-cpu', value: 4 },
      { label: 'disk-read', value: 1 }
    ]);
  });
});
