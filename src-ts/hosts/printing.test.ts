import { expect, test } from 'vitest';
import { batchOf, recordingOf } from '../core/test-recording';
import { mount } from '../panels/mount';
import { createStage } from '../panels/stage';
import { whatIf } from '../panels/what-if';
import { keepPrintable } from './printing';

const ATTEMPT = { run: 1, task: 1, worker: 'a', thread: '1', status: 'ok', start: 0, stop: 9, done: 9 };

test('nobody reads or prints that there is nothing of what has come meanwhile', () => {
  const recording = recordingOf({ about: [{ name: 'stopped', value: '9' }], attempts: [ATTEMPT] });
  const mounted = mount(whatIf, createStage(recording), document.body);
  const { element } = mounted;
  mounted.layout();
  const words = element.querySelector<HTMLElement>('.di-empty');
  const stop = keepPrintable([mounted]);
  expect([words?.hidden, element.hasAttribute('aria-busy')]).toEqual([false, false]);

  recording.take(batchOf('what_if', [{ question: 'recorded', text: '9 s.', seconds: 9, edition: 1 }]));
  expect(element.getAttribute('aria-busy')).toBe('true');
  window.dispatchEvent(new Event('beforeprint'));
  expect([words?.hidden, element.hasAttribute('aria-busy')]).toEqual([true, false]);
  expect(element.textContent).toContain('Recorded');
  window.dispatchEvent(new Event('afterprint'));
  stop();
  mounted.dispose();
});
