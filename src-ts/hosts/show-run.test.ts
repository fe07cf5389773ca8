import { expect, it } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { createStage } from '../panels/stage';
import { showRun } from './show-run';

/** The stage of a recording that lasts from 100 to 200, with tasks in a part of it. */
function opened(start: number, stop: number): ReturnType<typeof createStage> {
  const budget = JSON.stringify({ rows: 1, start, stop, sums: [['cpu', '', 1]] });
  const stage = createStage(
    recordingOf({
      about: [{ name: 'budget', value: budget }],
      resources: [{ time: 100 }, { time: 200 }]
    })
  );
  showRun(stage);
  return stage;
}

it('opens at the tasks, and key 0 still shows everything', () => {
  const { viewport } = opened(160, 192);
  expect([viewport.start, viewport.stop, viewport.origin, viewport.fitted]).toEqual([159, 193, 100, false]);
  viewport.fit();
  expect([viewport.start, viewport.stop, viewport.fitted]).toEqual([100, 200, true]);
});

it('keeps within the recording', () => {
  const { viewport } = opened(168, 200);
  expect([viewport.start, viewport.stop]).toEqual([167, 200]);
});

it('shows all where little lies around them', () => {
  const { viewport } = opened(104, 198);
  expect([viewport.start, viewport.stop]).toEqual([100, 200]);
});
