import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Needs } from './needs';

let resized: (target: Element, width: number) => void;

beforeEach(() => {
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(callback: (entries: object[]) => void) {
        resized = (target, width) => callback([{ target, contentRect: { width } }]);
      }
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    }
  );
});

afterEach(() => vi.unstubAllGlobals());

it('knows what the panels need that have a size', () => {
  const needs = new Needs();
  const told = vi.fn();
  needs.onChange(told);
  const [budget, stream, both] = Array.from({ length: 3 }, () => document.createElement('div'));
  const stop = needs.add(budget, ['attempts', 'budget']);
  needs.add(stream, ['attempts']);
  needs.add(both, ['budget', 'critical']);
  expect(needs.tables).toEqual([]);
  resized(stream, 100);
  expect(told).not.toHaveBeenCalled();
  resized(budget, 100);
  expect(needs.tables).toEqual(['budget']);
  resized(both, 100);
  expect(needs.tables).toEqual(['critical', 'budget']);
  resized(both, 0);
  expect(needs.tables).toEqual(['budget']);
  stop();
  expect(needs.tables).toEqual([]);
  expect(told).toHaveBeenCalledTimes(4);
  needs.add(stream, ['attempts', 'critical']);
  expect(needs.tables).toEqual(['critical']);
  needs.add(stream, ['attempts']);
  expect(needs.tables).toEqual([]);
  expect(told).toHaveBeenCalledTimes(6);
});
