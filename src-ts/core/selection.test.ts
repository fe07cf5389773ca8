import { describe, expect, test, vi } from 'vitest';
import { PYTHON, Selection } from './selection';

describe('Selection', () => {
  test('every panel is narrowed by all clauses but its own', () => {
    const selection = new Selection();
    selection.set({ source: 'a', column: 'name', value: ['x', 'y'] });
    selection.set({ source: 'b', column: 'name', value: ['y', 'z'] });
    selection.set({ source: 'b', column: 'time', value: { start: 1, stop: 5 } });
    selection.set({ source: 'c', column: 'time', value: { start: 3, stop: 9 } });
    expect([...(selection.filter('a').names ?? [])]).toEqual(['y', 'z']);
    expect(selection.filter('b')).toMatchObject({ time: { start: 3, stop: 9 }, workers: undefined });
    expect([...(selection.filter().names ?? [])]).toEqual(['y']);
    expect(selection.filter().time).toEqual({ start: 3, stop: 5 });
  });

  test('a filter is the same until a clause changes, and what others say of a column even longer', () => {
    const selection = new Selection();
    selection.set({ source: 'events', column: 'run', value: [1, 2, 3] });
    const filter = selection.filter('x');
    expect(selection.filter('x')).toBe(filter);
    expect(selection.save()).toContain('[1,2,3]');
    selection.set({ source: 'axis', column: 'time', value: { start: 1, stop: 2 } });
    expect(selection.filter('x')).not.toBe(filter);
    expect(selection.filter('x').runs).toBe(filter.runs);
    expect(selection.save()).toContain('axis');
    selection.undo();
    expect(selection.filter('x').time).toBeUndefined();
    selection.forget();
    expect([selection.filter('x').runs, selection.save()]).toEqual([undefined, '[]']);
  });

  test('a range without overlap is empty, not inverted', () => {
    const selection = new Selection();
    selection.set({ source: 'a', column: 'time', value: { start: 1, stop: 2 } });
    selection.set({ source: 'b', column: 'time', value: { start: 4, stop: 6 } });
    expect(selection.filter().time).toEqual({ start: 4, stop: 4 });
  });

  test('values are chosen alone or beside others, and taken back where just they are chosen', () => {
    const selection = new Selection();
    const choose = (values: readonly string[], additive = false): unknown => {
      selection.choose('a', 'name', values, additive);
      return selection.own('a', 'name');
    };
    expect(choose(['x'])).toEqual(['x']);
    expect(choose(['y', 'z'], true)).toEqual(['x', 'y', 'z']);
    expect(choose(['y'])).toEqual(['y']);
    expect(choose(['y', 'z'], true)).toEqual(['y', 'z']);
    expect(choose(['y'], true)).toEqual(['z']);
    expect(choose(['z'])).toBeUndefined();
  });

  test('what a person chooses takes the place of what Python has selected', () => {
    const selection = new Selection();
    const restore = (): void =>
      selection.only('name', [{ source: PYTHON, column: 'name', value: ['x', 'y'] }]);
    restore();
    selection.choose('a', 'name', ['x'], true);
    expect(selection.clauses).toEqual([{ source: 'a', column: 'name', value: ['y'] }]);
    restore();
    selection.choose('a', 'name', ['x', 'y'], false);
    expect(selection.clauses).toEqual([]);
    selection.undo();
    expect(selection.filter().names).toEqual(new Set(['x', 'y']));
    selection.put('finding', [{ source: 'finding', column: 'time', value: { start: 1, stop: 2 } }]);
    selection.put('finding', [{ source: 'finding', column: 'name', value: ['z'] }]);
    expect(selection.clauses).toEqual([{ source: 'finding', column: 'name', value: ['z'] }]);
  });

  test('what is forgotten cannot be taken back', () => {
    const selection = new Selection();
    selection.set({ source: 'a', column: 'name', value: ['x'] });
    selection.highlight = 'x';
    selection.forget();
    expect(selection.clauses).toEqual([]);
    expect(selection.highlight).toBeUndefined();
    expect([selection.canUndo, selection.canRedo]).toEqual([false, false]);
  });

  test('undo, redo and clearing step by step', () => {
    const selection = new Selection();
    selection.set({ source: 'a', column: 'worker', value: ['w'] });
    selection.toggle('a', 'name', 'x');
    selection.toggle('a', 'name', 'y');
    selection.toggle('a', 'name', 'x');
    expect(selection.own('a', 'name')).toEqual(['y']);
    expect(selection.undo()).toBe(true);
    expect(selection.own('a', 'name')).toEqual(['x', 'y']);
    expect(selection.redo()).toBe(true);
    expect(selection.own('a', 'name')).toEqual(['y']);
    expect(selection.escape()).toBe(true);
    expect(selection.clauses).toEqual([{ source: 'a', column: 'worker', value: ['w'] }]);
    expect(selection.escape()).toBe(true);
    expect(selection.escape()).toBe(false);
    selection.undo();
    selection.undo();
    expect(selection.clauses).toHaveLength(2);
  });

  test('what was chosen in one step is taken back in one', () => {
    const selection = new Selection();
    selection.set({ source: 'a', column: 'worker', value: ['w'] });
    selection.put('finding', [
      { source: 'finding', column: 'name', value: ['x'] },
      { source: 'finding', column: 'time', value: { start: 1, stop: 2 } },
      { source: 'finding', column: 'worker', value: ['w'] }
    ]);
    selection.toggle('a', 'name', 'x');
    expect(selection.clauses).toHaveLength(5);
    selection.escape();
    expect(selection.clauses).toHaveLength(4);
    selection.clear('finding', 'time');
    selection.escape();
    expect(selection.clauses).toEqual([{ source: 'a', column: 'worker', value: ['w'] }]);
    selection.undo();
    selection.escape();
    expect(selection.clauses).toHaveLength(1);
  });

  test('the same clause again is no change; an empty one clears', () => {
    const selection = new Selection();
    let told = 0;
    selection.subscribe(() => told++);
    selection.set({ source: 'a', column: 'name', value: ['x'] });
    selection.set({ source: 'a', column: 'name', value: ['x'] });
    expect(told).toBe(1);
    selection.set({ source: 'a', column: 'name', value: [] });
    expect(selection.clauses).toEqual([]);
  });

  test('the highlight tells, and filters nothing', () => {
    const selection = new Selection();
    let told = 0;
    selection.subscribe(() => expect.unreachable());
    const stop = selection.onHighlight(() => told++);
    selection.highlight = 'x';
    selection.highlight = 'x';
    expect(told).toBe(1);
    expect(selection.filter().names).toBeUndefined();
    stop();
    selection.highlight = undefined;
    expect(told).toBe(1);
  });
});

test('a name is in full colour where it is pointed at, else where it is chosen or nothing is', () => {
  const selection = new Selection();
  const bright = (): boolean[] => ['x', 'y'].map(name => selection.isBright(name));
  expect(bright()).toEqual([true, true]);
  selection.set({ source: 'a', column: 'name', value: ['x'] });
  expect(bright()).toEqual([true, false]);
  selection.highlight = 'y';
  expect(bright()).toEqual([false, true]);
});

test('of thousands of values none is looked for in a list', () => {
  const ids = Array.from({ length: 4000 }, (_, id) => `span-${id}`);
  const search = vi.spyOn(Array.prototype, 'includes');
  const selection = new Selection();
  selection.choose('a', 'span', ids, false);
  selection.choose('b', 'span', [...ids, 'other'], true);
  expect(selection.filter().spans?.size).toBe(ids.length);
  selection.choose('b', 'span', ['other'], true);
  const searched = search.mock.calls.length;
  search.mockRestore();
  expect(selection.own('b', 'span')).toEqual(ids);
  expect(searched).toBeLessThan(100);
});
