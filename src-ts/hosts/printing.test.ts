import { afterEach, expect, test, vi } from 'vitest';
import { batchOf, recordingOf } from '../core/test-recording';
import { mount } from '../panels/mount';
import type { Panel } from '../panels/panel';
import { createStage } from '../panels/stage';
import { whatIf } from '../panels/what-if';
import { keepPrintable } from './printing';

const ATTEMPT = { run: 1, task: 1, worker: 'a', thread: '1', status: 'ok', start: 0, stop: 9, done: 9 };

afterEach(() => vi.restoreAllMocks());

test('a stretch that is chosen is printed, what is only pointed at is not', () => {
  const sheet = new Proxy({}, { get: () => () => {}, set: () => true });
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(sheet as never);
  for (const side of ['clientWidth', 'clientHeight'] as const)
    vi.spyOn(HTMLElement.prototype, side, 'get').mockReturnValue(600);
  const stage = createStage(recordingOf({ resources: [0, 10].map(time => ({ process: 'w', time })) }));
  const panel: Panel = {
    id: 'some',
    title: 'Some',
    tables: [],
    overTime: true,
    create: () => ({
      empty: () => undefined,
      height: () => 600,
      layout: () => {},
      draw: () => {},
      drawOverlay: () => {},
      pick: x => ({
        id: 1,
        box: { x, y: 0, width: 9, height: 9 },
        card: () => ({ title: 'a mark', groups: [] }),
        words: () => 'a mark'
      })
    })
  };
  const mounted = mount(panel, stage, document.body);
  const { base, overlay, element } = mounted.surface;
  vi.spyOn(base, 'toDataURL').mockReturnValue('data:,picture');
  vi.spyOn(overlay, 'toDataURL').mockReturnValue('data:,choice');
  const stop = keepPrintable([mounted]);
  const printed = (): string[] => {
    element.dispatchEvent(new PointerEvent('pointermove', { clientX: 300, clientY: 300 }));
    expect(stage.viewport.cursor).toBe(5);
    window.dispatchEvent(new Event('beforeprint'));
    const pictures = [...element.querySelectorAll('img')].map(({ src }) => src);
    window.dispatchEvent(new Event('afterprint'));
    return pictures;
  };
  expect(printed()).toEqual(['data:,picture']);
  for (const what of ['pointerdown', 'pointerup'])
    element.dispatchEvent(new PointerEvent(what, { clientX: 300, clientY: 300 }));
  expect(document.querySelector('.di-pinned')).not.toBeNull();
  expect(printed()).toEqual(['data:,picture']);
  stage.selection.set({ source: 'x', column: 'time', value: { start: 2, stop: 4 } });
  expect(printed()).toEqual(['data:,picture', 'data:,choice']);
  expect(element.querySelector('img')).toBeNull();
  stop();
  mounted.dispose();
});

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
