import { describe, expect, it } from 'vitest';
import { band, binned, seriesOf, summed, valueAt } from './series';

// rows come mixed and out of order, as batches of several workers do
const codes = [0, 1, 0, 1, 0, 2];
const names = ['a', 'b', 'scheduler'];
const times = [1, 1, 3, 2, 2, 2];
const values = [10, 100, 30, 200, 20, 7];
const series = seriesOf(codes, names, times, name => name !== 'scheduler');

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
    const two = binned(series, values, 0, 4, 2);
    expect([...two.mean]).toEqual([10, 25, 100, 200]);
    expect([...two.low]).toEqual([10, 20, 100, 200]);
    expect([...two.high]).toEqual([10, 30, 100, 200]);
  });

  it('holds a value until the next, but not for ever', () => {
    const fine = binned(series, values, 0, 10, 10);
    const held = [...fine.mean.subarray(0, 10)].map(value => (Number.isNaN(value) ? '-' : value));
    expect(held).toEqual(['-', 10, 20, 30, 30, 30, 30, 30, '-', '-']);
  });

  it('knows the value at the left edge from the sample before it', () => {
    expect(binned(series, values, 1.5, 2, 1).mean[0]).toBe(10);
    expect(valueAt(series, values, 0, 2.5)).toBe(20);
    expect(valueAt(series, values, 0, 0.5)).toBeNaN();
    expect(valueAt(series, values, 0, 60)).toBeNaN();
  });

  it('reads past rows of another observer, which know nothing of a column', () => {
    const sparse = [10, 100, 30, 200, Number.NaN, 7];
    expect([...binned(series, sparse, 0, 4, 4).mean.subarray(0, 4)]).toEqual([Number.NaN, 10, 10, 30]);
    expect(valueAt(series, sparse, 0, 2.5)).toBe(10);
    const seconds = [1, 2, 3, 4, 5, 6, 7];
    const other = seriesOf(new Uint8Array(7), ['a'], seconds);
    const first = seconds.map(second => (second === 1 ? 10 : Number.NaN));
    expect([...binned(other, first, 4, 7, 3).mean]).toEqual([10, 10, Number.NaN]);
    expect(valueAt(other, first, 0, 5)).toBe(10);
    expect(valueAt(other, first, 0, 5.5)).toBeNaN();
  });

  it('gives a band and a sum over processes', () => {
    const two = binned(series, values, 0, 4, 2);
    const both = band(two, [0, 1]);
    expect([both.low[1], both.median[1], both.high[1]]).toEqual([20, 112.5, 200]);
    expect([...summed(two, [0, 1])]).toEqual([110, 225]);
    expect(summed(two, [])[0]).toBeNaN();
  });
});
