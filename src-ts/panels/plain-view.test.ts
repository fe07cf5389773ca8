import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { functions } from './functions';
import { type Mounted, mount } from './mount';
import { createStage } from './stage';

let mounted: Mounted;
let layout: ReturnType<typeof vi.fn>;

/** What watches the page has heard of it, and what waits until nothing else is to be done is done. */
const heard = (): Promise<unknown> => vi.advanceTimersByTimeAsync(6000);

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'requestIdleCallback'] });
  const attempts = [{ run: 1, task: 1, worker: 'a', thread: '1', status: 'ok', start: 0, stop: 9, done: 9 }];
  const recording = recordingOf({ graph: [{ task: 1, key: 'inc-1', prefix: 'inc' }], attempts });
  mounted = mount(functions, createStage(recording), document.body);
  await heard();
  layout = vi.spyOn(mounted.view, 'layout') as never;
});

afterEach(() => {
  mounted.dispose();
  vi.useRealTimers();
  document.body.removeAttribute('class');
  document.body.removeAttribute('style');
});

const color = (): string | undefined =>
  mounted.element.querySelector<HTMLElement>('tbody .di-swatch')?.style.backgroundColor;

test('colours follow the theme; what else changes of the page lays nothing out', async () => {
  const light = color();
  document.body.className = 'dragging';
  await heard();
  expect(layout).not.toHaveBeenCalled();
  document.body.style.backgroundColor = '#101010';
  await heard();
  expect(layout).toHaveBeenCalled();
  expect(color()).not.toBe(light);
});

test('out of sight nothing is laid out until it is shown', async () => {
  const light = color();
  const rects = vi.spyOn(mounted.element, 'getClientRects').mockReturnValue([] as never);
  document.body.style.backgroundColor = '#101010';
  await heard();
  expect(layout).not.toHaveBeenCalled();
  rects.mockRestore();
  mounted.layout();
  expect(color()).not.toBe(light);
});
