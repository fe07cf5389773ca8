import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Selection } from '../core/selection';
import { recordingOf } from '../core/test-recording';
import { createStage } from '../panels/stage';
import { clausesIn, keepAddress, read, write } from './address';

describe('address', () => {
  it.each([
    { zoom: [1.5, 2.25] as const, selection: '[{"a":"b&c#d=e"}]' },
    { zoom: undefined, selection: '[{"ü":"</script>"}]' },
    { zoom: [0, 0.000002] as const, selection: '' }
  ])('comes back as it was written', place => {
    expect(read(`#${write(place)}`)).toEqual(place);
  });

  it.each(['', '#', '#zoom=', '#zoom=abc', '#zoom=5-1', '#zoom=1-2-3', '#unknown=1'])(
    '%s says nothing',
    hash => {
      expect(read(hash)).toEqual({ zoom: undefined, selection: '' });
    }
  );

  it('leaves out what is as usual', () => {
    expect(write({ zoom: undefined, selection: '[]' })).toBe('');
  });

  it('holds clauses; what is none is left out', () => {
    const selection = new Selection();
    selection.set({ source: 'a', column: 'time', value: { start: 1, stop: 2 } });
    selection.set({ source: 'a', column: 'run', value: [7] });
    expect(clausesIn(selection.save())).toEqual(selection.clauses);
    for (const text of [
      '[{"source":"a","column":"name","value":[1]},{"source":1},{"column":"time"},null]',
      '[{"source":"a","column":"line","value":[]},{"source":"a","column":"span","value":[]}]',
      'no JSON',
      ''
    ])
      expect(clausesIn(text)).toEqual([]);
  });
});

describe('a page that keeps its address', () => {
  const recording = recordingOf({
    attempts: [{ run: 1, task: 1, worker: 'a', thread: '1', start: 100, stop: 110, done: 110, status: 'ok' }]
  });

  beforeEach(() => {
    vi.useFakeTimers();
    history.replaceState(null, '', '#');
  });
  afterEach(() => vi.useRealTimers());

  it('writes zoom and selection once they rest, and takes them up again', () => {
    const stage = createStage(recording);
    const stop = keepAddress(stage);
    stage.viewport.show(102, 104);
    stage.selection.set({ source: 'x', column: 'name', value: ['inc'] });
    vi.runAllTimers();
    expect(location.hash).toContain('zoom=2-4');
    stop();

    const again = createStage(recording);
    const stopAgain = keepAddress(again);
    expect([again.viewport.start, again.viewport.stop]).toEqual([102, 104]);
    expect(again.selection.filter().names).toEqual(new Set(['inc']));
    stopAgain();
  });
});
