import { expect, test } from 'vitest';
import { Tasks } from '../../core/tasks';
import { recordingOf } from '../../core/test-recording';
import type { PanelContext } from '../panel';
import { PathLine } from './path-line';

function lineOf(steps: number, ended?: 'stopped' | 'signs', request?: (wanted: boolean) => void): PathLine {
  const recording = recordingOf({
    attempts: [{ run: 0, task: 0, worker: 'w', thread: '1', start: 0, stop: 1, status: 'ok' }],
    ...(ended && { about: [{ name: ended, value: '1' }] }),
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
    ...(request && { request }),
    surface: { invalidate: () => {} } as unknown as PanelContext['surface']
  };
  return new PathLine(context as PanelContext);
}

test('a path of few steps is shown unasked, one of many or of a run that goes on is not', () => {
  expect(lineOf(60, 'stopped').shown).toBe(true);
  expect(lineOf(61, 'stopped').shown).toBe(false);
  expect(lineOf(60).shown).toBe(false);
});

test('of a run that was killed, of which nothing tells when it stopped, a report shows it too', () => {
  expect(lineOf(60, 'signs').shown).toBe(true);
});

test('a person shows and hides it', () => {
  const line = lineOf(1000, 'stopped');
  line.toggle.click();
  expect([line.shown, line.toggle.getAttribute('aria-pressed')]).toEqual([true, 'true']);
  line.toggle.click();
  expect([line.shown, line.toggle.getAttribute('aria-pressed')]).toEqual([false, 'false']);
});

test('of a run that goes on it is worked out only for who wants to see it', () => {
  const requests: boolean[] = [];
  const line = lineOf(0, undefined, wanted => requests.push(wanted));
  expect([requests, line.toggle.hidden, line.shown]).toEqual([[], false, false]);
  line.toggle.click();
  expect([requests, line.toggle.getAttribute('aria-pressed'), line.shown]).toEqual([[true], 'true', false]);
  line.toggle.click();
  expect([requests, line.toggle.getAttribute('aria-pressed')]).toEqual([[true, false], 'false']);
});

test('of a run that has ended it is asked for at once', () => {
  const requests: boolean[] = [];
  lineOf(0, 'stopped', wanted => requests.push(wanted)).update();
  expect(requests).toEqual([true]);
});

test('without a path there is no button', () => {
  const line = lineOf(0, 'stopped');
  expect([line.shown, line.toggle.hidden]).toEqual([false, true]);
});
