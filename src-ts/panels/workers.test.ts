import { expect, test } from 'vitest';
import { batchOf, recordingOf } from '../core/test-recording';
import { Surface } from '../draw/surface';
import type { PanelView } from './panel';
import { createStage } from './stage';
import { asText, type TableOptions } from './table';
import { workers } from './workers';

/** What a column tells of each worker. */
function told(view: PanelView, title: string): Record<string, string | undefined> {
  const cells = [...(view.below as HTMLElement).querySelectorAll('tr')].map(row =>
    [...row.children].map(cell => (cell.textContent ?? '').replace(/\s/g, ' '))
  );
  const column = cells[0].indexOf(title);
  return Object.fromEntries(cells.slice(1).map(row => [row[0], row[column]]));
}

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
  expect(told(view, 'Most memory')).toEqual({ w1: '3.63 GiB', threads: '954 MiB' });
});

test('while a run goes on there is what workers use now, of those that are still there', () => {
  const sample = { process: 'w1', cpu: 350, memory: 9e9 };
  const { recording, ...stage } = createStage(
    recordingOf({
      workers: [
        { worker: 'w1', threads: 4, joined: 0, left: Number.NaN },
        { worker: 'w2', threads: 4, joined: 0, left: 899 }
      ],
      memory: [{ worker: 'w1', time: 899, process: 2e9 }],
      resources: [
        { ...sample, time: 1 },
        { ...sample, process: 'w2', time: 898 },
        { process: 'w1', time: 900, cpu: 0, memory: 1e9 },
        { process: 'w1', time: 900, cpu: Number.NaN, memory: Number.NaN }
      ]
    })
  );
  const view = workers.create({ ...stage, recording, surface: new Surface(), say: () => {} });
  view.layout();
  expect(told(view, 'Memory')).toEqual({ w1: '954 MiB', w2: '–' });
  expect(told(view, 'CPU')).toEqual({ w1: '0 %', w2: '–' });
  recording.take(batchOf('resources', [{ process: 'w1', time: 900, cpu: 150, memory: 1e9 }]));
  view.layout();
  expect(told(view, 'CPU').w1).toBe('150 %');
  const { rows } = (view as unknown as { content(): TableOptions }).content();
  const [heads, first] = asText(rows, [0]).split('\n');
  const copied = Object.fromEntries(heads.split('\t').map((head, at) => [head, first.split('\t')[at]]));
  // As the shares beside it.
  expect(copied).toMatchObject({ CPU: '1.5', 'Memory, B': '1000000000', 'Joined, s': '-1' });
  stage.selection.set({ source: 'x', column: 'time', value: { start: 0, stop: 10 } });
  view.layout();
  expect(told(view, 'Memory')).toEqual({ w1: undefined, w2: undefined });
  expect(told(view, 'Most memory').w1).toBe('8.38 GiB');
  stage.selection.undo();
  view.layout();
  expect(told(view, 'CPU').w1).toBe('150 %');
  recording.take(batchOf('about', [{ name: 'stopped', value: '901' }]));
  view.layout();
  expect(told(view, 'CPU').w1).toBeUndefined();
});
