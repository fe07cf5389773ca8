import { expect, test } from 'vitest';
import { Tasks } from '../../core/tasks';
import { recordingOf } from '../../core/test-recording';
import type { PanelContext } from '../panel';
import { PathLine } from './path-line';

function lineOf(steps: number, ended: boolean): PathLine {
  const recording = recordingOf({
    ...(ended ? { about: [{ name: 'stopped', value: '1' }] } : {}),
    critical: Array.from({ length: steps }, (_, at) => ({
      start: at,
      stop: at + 1,
      kind: 'compute',
      because: 'input',
      task: at,
      run: at
    }))
  });
  const context: Partial<PanelContext> = {
    recording,
    tasks: new Tasks(recording),
    say: () => {},
    surface: { invalidate: () => {} } as unknown as PanelContext['surface']
  };
  return new PathLine(context as PanelContext);
}

test('a path of few steps is shown unasked, one of many or of a run that goes on is not', () => {
  expect(lineOf(60, true).shown).toBe(true);
  expect(lineOf(61, true).shown).toBe(false);
  expect(lineOf(60, false).shown).toBe(false);
});

test('a person shows and hides it', () => {
  const line = lineOf(1000, true);
  line.toggle.click();
  expect([line.shown, line.toggle.getAttribute('aria-pressed')]).toEqual([true, 'true']);
  line.toggle.click();
  expect([line.shown, line.toggle.getAttribute('aria-pressed')]).toEqual([false, 'false']);
});

test('without a path there is no button', () => {
  const line = lineOf(0, true);
  expect([line.shown, line.toggle.hidden]).toEqual([false, true]);
});
