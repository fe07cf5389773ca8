import { expect, test } from 'vitest';
import { Bursts } from './bursts';
import { Tasks } from './tasks';
import { batchOf, recordingOf } from './test-recording';

const ran = (run: number, start: number, stop: number, thread = 't') => ({
  run,
  task: run,
  worker: 'w',
  thread,
  status: 'ok',
  start,
  stop
});

test('work with idle time between, in whichever order it comes', () => {
  const recording = recordingOf({ attempts: [ran(0, 10, 11), ran(1, 11.5, 13), ran(2, 20, 21)] });
  const bursts = new Bursts(new Tasks(recording));
  expect(bursts.list).toEqual([
    { start: 10, stop: 13 },
    { start: 20, stop: 21 }
  ]);
  recording.take(batchOf('attempts', [ran(3, 30, 31, 'u'), ran(4, 12.9, 15, 'u')]));
  bursts.update();
  expect(bursts.list.map(({ start, stop }) => [start, stop])).toEqual([
    [10, 15],
    [20, 21],
    [30, 31]
  ]);
  recording.take(batchOf('attempts', [ran(5, 15.5, 29.5, 'v')]));
  bursts.update();
  expect(bursts.list).toEqual([{ start: 10, stop: 31 }]);
});

test('what runs has begun, and counts whole when it has ended', () => {
  const recording = recordingOf({
    running: [{ run: 0, task: 0, worker: 'w', thread: 't', start: 5 }]
  });
  const bursts = new Bursts(new Tasks(recording));
  expect(bursts.list).toEqual([{ start: 5, stop: 5 }]);
  recording.take(batchOf('attempts', [ran(0, 5, 50)]));
  bursts.update();
  expect(bursts.list).toEqual([{ start: 5, stop: 50 }]);
  recording.replace(recordingOf({ attempts: [ran(1, 60, 61)] }));
  bursts.update();
  expect(bursts.list).toEqual([{ start: 60, stop: 61 }]);
});

test('while something runs there is no pause', () => {
  const recording = recordingOf({
    attempts: [ran(1, 10, 11), ran(2, 30, 31), ran(3, 40, 41, 'u')],
    running: [{ run: 0, task: 0, worker: 'w', thread: 'v', start: 20 }]
  });
  const bursts = new Bursts(new Tasks(recording));
  expect(bursts.list).toEqual([
    { start: 10, stop: 11 },
    { start: 20, stop: 41 }
  ]);
  recording.take(batchOf('attempts', [ran(0, 20, 25, 'v')]));
  bursts.update();
  expect(bursts.list.map(({ start, stop }) => [start, stop])).toEqual([
    [10, 11],
    [20, 25],
    [30, 31],
    [40, 41]
  ]);
});
