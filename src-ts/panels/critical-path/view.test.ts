import { expect, test } from 'vitest';
import { batchOf, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import type { Stage } from '../panel';
import { createStage } from '../stage';
import { CriticalPathView } from './view';

/** Task a computes for four seconds, then b for four. */
function shown(): { readonly stage: Stage; readonly view: CriticalPathView } {
  const recording = recordingOf({
    graph: [
      { task: 1, key: 'a-1', prefix: 'a' },
      { task: 2, key: 'b-2', prefix: 'b' }
    ],
    resources: [0, 8].map(time => ({ process: 'w', time })),
    critical: [1, 2].map(run => ({
      start: 4 * run - 4,
      stop: 4 * run,
      kind: 'compute',
      because: 'input',
      task: run,
      run
    }))
  });
  const stage = createStage(recording);
  const surface = new Surface();
  surface.width = 900;
  const view = new CriticalPathView({ ...stage, surface, say: () => {} });
  view.layout();
  return { stage, view };
}

test('where there is no path it is said why', () => {
  const thread = { worker: 'w', thread: 't', start: 1 };
  const recording = recordingOf({ running: [{ ...thread, run: 1, task: 1 }] });
  const stage = createStage(recording);
  const empty = (): string | undefined =>
    new CriticalPathView({ ...stage, surface: new Surface(), say: () => {} }).empty();
  expect(empty()).toBe('The critical path is being worked out.');
  recording.take(batchOf('about', [{ name: 'stopped', value: '3' }]));
  expect(empty()).toBe('No finished task was recorded.');
  recording.take(batchOf('attempts', [{ ...thread, run: 1, task: 1, status: 'ok', stop: 2 }]));
  expect(empty()).toContain('not been worked out');
});

test('a step that is pointed at stands where it is after a zoom', () => {
  const { stage, view } = shown();
  const mark = view.move(view.move(undefined, 'first'), 'right');
  const { width } = view.plot();
  expect(mark?.box.width).toBeCloseTo(width / 2, 0);
  stage.viewport.show(4, 6);
  expect([mark?.box.x, mark?.box.width]).toEqual([view.plot().x, 2 * width]);
});

test.each(['name', 'step'])('where nothing of the path is chosen, its list by %s says so', by => {
  const { stage, view } = shown();
  const list = view.controls[1] as HTMLSelectElement;
  list.value = by;
  list.dispatchEvent(new Event('change'));
  view.layout();
  const told = (): string | null | undefined => view.below.querySelector('caption')?.textContent;
  const before = told();
  const { selection } = stage;
  selection.set({ source: 'x', column: 'time', value: { start: 20, stop: 30 } });
  view.layout();
  expect(told()).toBe('Nothing of the path is in what is chosen. Esc takes the last choice back.');
  selection.undo();
  view.layout();
  expect(told()).toBe(before);
});
