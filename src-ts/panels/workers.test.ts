import { expect, test } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { Surface } from '../draw/surface';
import { createStage } from './stage';
import { workers } from './workers';

test('the most memory of a worker is the most that anybody has seen, also where only samples tell of it', () => {
  const attempt = { task: 1, thread: 't', status: 'ok', start: 1, stop: 2, done: 2 };
  const recording = recordingOf({
    workers: [{ worker: 'w1', threads: 1, joined: 0 }],
    attempts: [
      { ...attempt, run: 1, worker: 'w1' },
      { ...attempt, run: 2, worker: 'threads' }
    ],
    memory: [{ worker: 'w1', time: 1, process: 2e9 }],
    resources: [
      { process: 'w1', time: 1.5, memory: 3.9e9 },
      { process: 'threads', time: 1.5, memory: 1e9 },
      { process: 'w1', time: 900, memory: 9e9 }
    ]
  });
  const view = workers.create({ ...createStage(recording), surface: new Surface(), say: () => {} });
  view.layout();
  const cells = [...(view.below as HTMLElement).querySelectorAll('tr')].map(row =>
    [...row.children].map(cell => (cell.textContent ?? '').replace(/\s/g, ' '))
  );
  const most = cells[0].indexOf('Most memory');
  const told = cells.slice(1).map(row => [row[0], row[most]]);
  expect(Object.fromEntries(told)).toEqual({ w1: '3.63 GiB', threads: '954 MiB' });
});
