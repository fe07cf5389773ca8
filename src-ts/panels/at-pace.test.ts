import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { atPace } from './at-pace';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const thisTaskIsDone = (): Promise<void> => Promise.resolve();

test('the first time there is no wait, and what asks again in the same task is done with it', async () => {
  const work = vi.fn();
  const paced = atPace(() => 80, work, { prompt: true });
  paced.soon();
  paced.soon();
  expect(work).not.toHaveBeenCalled();
  await thisTaskIsDone();
  expect(work).toHaveBeenCalledTimes(1);
});

test('then it rests as long as the pace is by then, however often it is asked for', async () => {
  const work = vi.fn();
  let pace = 80;
  const paced = atPace(() => pace, work, { prompt: true });
  paced.soon();
  await thisTaskIsDone();
  pace = 160;
  vi.advanceTimersByTime(60);
  paced.soon();
  paced.soon();
  vi.advanceTimersByTime(99);
  expect(work).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(work).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(1000);
  expect(work).toHaveBeenCalledTimes(2);
});

test('who has stopped it hears no more of it, not even of what was due', async () => {
  const work = vi.fn();
  const paced = atPace(() => 80, work, { prompt: true });
  paced.soon();
  paced.stop();
  await thisTaskIsDone();
  expect(work).not.toHaveBeenCalled();
});

test('who is not prompt waits for more from the first time on', async () => {
  const work = vi.fn();
  const paced = atPace(() => 80, work, { prompt: false });
  paced.soon();
  await thisTaskIsDone();
  vi.advanceTimersByTime(79);
  expect(work).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(work).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(500);
  paced.soon();
  vi.advanceTimersByTime(79);
  expect(work).toHaveBeenCalledTimes(1);
});
