import { describe, expect, it } from 'vitest';
import { band, binned, seriesOf, summed, valueAt } from './series';

// rows come mixed and out of order, as batches of several workers do
const codes = [0, 1, 0, 1, 0, 2];
const names = ['a', 'b', 'scheduler'];
const times = [1, 1, 3, 2, 2, 2];
const values = [10, 100, 30, 200, 20, 7];
const series = seriesOf(codes, names, times, name => name !== 'scheduler');

const means = (...of: Parameters<typeof binned>): number[] => [...(binned(...of)?.mean ?? [])];

describe('series', () => {
  it('puts each process together, by time, and leaves out who is not asked for', () => {
    expect(series.names).toEqual(['a', 'b']);
    expect([...series.first]).toEqual([0, 3, 5]);
    expect([...series.rows]).toEqual([0, 4, 2, 1, 3]);
    expect(series.interval).toBe(1);
  });

  it('takes rows as they come, also such as lie before others', () => {
    let grown = seriesOf([], names, []);
    for (let rows = 1; rows <= codes.length; rows++) {
      const include = (name: string): boolean => name !== 'scheduler';
      grown = seriesOf(codes.slice(0, rows), names, times.slice(0, rows), include, grown);
    }
    expect(grown).toEqual(series);
    expect(seriesOf([0], names, [5], undefined, grown, 'another past').names).toEqual(['a']);
  });

  it('averages what shares a bin and keeps the extremes', () => {
    const [a, b] = [0, 1].map(process => binned(series, values, process, 0, 4, 2));
    expect([a, b].map(each => [...(each?.mean ?? [])])).toEqual([
      [10, 25],
      [100, 200]
    ]);
    expect([...(a?.low ?? []), ...(a?.high ?? [])]).toEqual([10, 20, 10, 30]);
  });

  it('holds a value until the next, but not for ever', () => {
    const held = means(series, values, 0, 0, 10, 10).map(value => (Number.isNaN(value) ? '-' : value));
    expect(held).toEqual(['-', 10, 20, 30, 30, 30, 30, 30, '-', '-']);
  });

  it('has nothing of a process without a sample in the time, be it before or after', () => {
    expect(binned(series, values, 0, 60, 70, 5)).toBeUndefined();
    expect(binned(series, values, 0, 0, 1, 5)).toBeUndefined();
  });

  it('holds a value by the intervals of its own process, which change; silence is no interval', () => {
    // Ten workers each 0.2 s, and one that came later: each 3 s, silent for a minute, and gone in the end.
    const many = Array.from({ length: 10 }, (_, worker) =>
      Array.from({ length: 300 }, (_, at) => [worker, at / 5])
    ).flat();
    const late = [...Array(11).keys(), 30, 31, 32].map(at => [10, 60 + 3 * at]);
    const rows = [...many, ...late];
    const workers = rows.map(([worker]) => worker);
    const seconds = rows.map(([, time]) => time);
    const mixed = seriesOf(workers, [...'abcdefghijk'], seconds);
    expect(mixed.interval).toBeCloseTo(0.2);
    const ones = new Float32Array(rows.length).fill(1);
    const sums = summed([...mixed.names.keys()], 120, at => binned(mixed, ones, at, 0, 120, 120)?.mean);
    expect([...sums.subarray(0, 60)]).toEqual(Array(60).fill(10));
    // From its last sample before the silence on a value stands for four times three seconds.
    expect(sums.subarray(62, 103).every(sum => sum === 1)).toBe(true);
    expect(sums.subarray(103).every(Number.isNaN)).toBe(true);
    const then = [101.9, 102.1, 150, 167.9, 168.1].map(time => valueAt(mixed, ones, 10, time));
    expect(then).toEqual([1, Number.NaN, 1, 1, Number.NaN]);
  });

  it('goes by the samples that know a column, not by those of another observer between them', () => {
    // Eight workers each 0.2 s for a minute; then one each 3 s, whom somebody else looks at each 0.5 s.
    const many = Array.from({ length: 8 }, (_, worker) =>
      Array.from({ length: 300 }, (_, at) => [worker, at / 5, 1])
    ).flat();
    const own = [...Array(21).keys()].map(at => [8, 60 + 3 * at, 1]);
    const others = [...Array(120).keys()].map(at => [8, 60.1 + at / 2, Number.NaN]);
    const [who, seconds, known] = [0, 1, 2].map(at => [...many, ...own, ...others].map(row => row[at]));
    const mixed = seriesOf(who, [...'abcdefghi'], seconds);
    expect(means(mixed, known, 8, 60, 120, 240)).toEqual(Array(240).fill(1));
    expect([62.9, 119.9, 131.9, 132.1].map(time => valueAt(mixed, known, 8, time))).toEqual([
      1,
      1,
      1,
      Number.NaN
    ]);
  });

  it('knows the value at the left edge from the sample before it', () => {
    expect(means(series, values, 0, 1.5, 2, 1)).toEqual([10]);
    expect(valueAt(series, values, 0, 2.5)).toBe(20);
    expect(valueAt(series, values, 0, 0.5)).toBeNaN();
    expect(valueAt(series, values, 0, 60)).toBeNaN();
  });

  it('reads past rows of another observer, which know nothing of a column', () => {
    const sparse = [10, 100, 30, 200, Number.NaN, 7];
    expect(means(series, sparse, 0, 0, 4, 4)).toEqual([Number.NaN, 10, 10, 30]);
    expect(valueAt(series, sparse, 0, 2.5)).toBe(10);
    const seconds = [1, 2, 3, 4, 5, 6, 7];
    const other = seriesOf(new Uint8Array(7), ['a'], seconds);
    const first = seconds.map(second => (second === 1 ? 10 : Number.NaN));
    expect(means(other, first, 0, 4, 7, 3)).toEqual([10, 10, Number.NaN]);
    expect(valueAt(other, first, 0, 5)).toBe(10);
    expect(valueAt(other, first, 0, 5.5)).toBeNaN();
  });

  it('gives a band and a sum over processes', () => {
    const read = (process: number) => binned(series, values, process, 0, 4, 2);
    const both = band([0, 1], 2, read);
    expect([both.low[1], both.median[1], both.high[1]]).toEqual([20, 112.5, 200]);
    const mean = (process: number) => read(process)?.mean;
    expect([...summed([0, 1], 2, mean)]).toEqual([110, 225]);
    expect(summed([], 2, mean)[0]).toBeNaN();
    const none = band([0, 1], 2, () => undefined);
    expect([none.low[0], none.median[0], none.high[0]]).toEqual(Array(3).fill(Number.NaN));
  });
});
