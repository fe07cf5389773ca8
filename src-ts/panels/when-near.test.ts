import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { functions } from './functions';
import { mount } from './mount';
import { createStage } from './stage';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'requestAnimationFrame', 'requestIdleCallback'] });
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(private readonly tell: (entries: readonly object[]) => void) {}
      observe(): void {
        this.tell([{ isIntersecting: true }]);
      }
      disconnect(): void {}
    }
  );
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a table in sight is worked out once what was chosen is drawn', async () => {
  const attempts = [{ run: 1, task: 1, worker: 'a', thread: '1', status: 'ok', start: 0, stop: 9, done: 9 }];
  const stage = createStage(recordingOf({ graph: [{ task: 1, key: 'inc-1', prefix: 'inc' }], attempts }));
  const mounted = mount(functions, stage, document.body);
  await vi.advanceTimersByTimeAsync(100);
  const content = vi.spyOn(mounted.view as unknown as { content(): unknown }, 'content');
  let drawn = false;
  requestAnimationFrame(() => {
    drawn = true;
    expect(content).not.toHaveBeenCalled();
  });
  stage.selection.set({ source: 'x', column: 'name', value: ['inc'] });
  stage.selection.set({ source: 'x', column: 'worker', value: ['a'] });
  expect(content).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(100);
  expect(drawn).toBe(true);
  expect(content).toHaveBeenCalledOnce();
  mounted.dispose();
});
