import { describe, expect, it } from 'vitest';
import { BinCache, stepOf } from './bin-cache';

const at = (start: number, span: number) => ({
  start,
  stop: start + span,
  perPixel: span / 1000
});

describe('bin cache', () => {
  it('works bins out once for a view and what lies beside it', () => {
    const cache = new BinCache<number>();
    let made = 0;
    const make = (): number => ++made;
    const first = cache.get('cpu', at(100, 10), false, make);
    expect(first.from).toBeLessThanOrEqual(90);
    expect(first.to).toBeGreaterThanOrEqual(120);
    expect(first.from / first.step).toBe(Math.round(first.from / first.step));
    cache.get('cpu', at(104, 10), false, make);
    cache.get('cpu', at(96, 10), false, make);
    expect(made).toBe(1);
    cache.get('cpu', at(130, 10), false, make);
    expect(made).toBe(2);
    cache.get('memory', at(130, 10), false, make);
    expect(made).toBe(3);
  });

  it('makes do with what it has while a person moves', () => {
    const cache = new BinCache<number>();
    let made = 0;
    cache.get('cpu', at(100, 10), false, () => ++made);
    expect(cache.get('cpu', at(100, 2), true, () => ++made).value).toBe(1);
    expect(cache.get('cpu', at(100, 2), false, () => ++made).value).toBe(2);
  });

  it('has what is shown also where a person has moved far', () => {
    const cache = new BinCache<number>();
    const get = (start: number, moving: boolean): number[] => {
      const { from, to } = cache.get('cpu', at(start, 10), moving, () => 0);
      return [from, to];
    };
    get(100, false);
    const [from, to] = get(140, true);
    expect(from).toBeLessThanOrEqual(140);
    expect(to).toBeGreaterThanOrEqual(150);
  });

  it('forgets when the data are others', () => {
    const cache = new BinCache<number>();
    let made = 0;
    cache.renew(1);
    cache.get('cpu', at(0, 1), false, () => ++made);
    cache.renew(1);
    cache.get('cpu', at(0, 1), false, () => ++made);
    cache.renew(2);
    cache.get('cpu', at(0, 1), false, () => ++made);
    expect(made).toBe(2);
  });

  it('has bins of at least a pixel and a half, and less than twice that', () => {
    for (const perPixel of [1e-5, 0.01, 0.013, 1, 7]) {
      expect(stepOf(perPixel) / perPixel).toBeGreaterThanOrEqual(1.5);
      expect(stepOf(perPixel) / perPixel).toBeLessThan(3);
    }
  });
});
