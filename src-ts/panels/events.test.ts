import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchOf, recordingOf } from '../core/test-recording';
import { Surface } from '../draw/surface';
import { events } from './events';
import type { PanelView, Stage } from './panel';
import { createStage } from './stage';

let stage: Stage;
let view: PanelView;
let host: HTMLElement;

beforeEach(() => {
  const event = (
    time: number,
    source: string,
    kind: string,
    level: string,
    message: string,
    detail = ''
  ) => ({
    time,
    source,
    kind,
    level,
    message,
    detail
  });
  const recording = recordingOf({
    workers: [{ worker: 'tcp://h:1', name: '3', joined: 0, left: Number.NaN, threads: 1 }],
    attempts: [
      { run: 1, task: 1, worker: 'tcp://h:1', thread: '1', status: 'ok', start: 0, stop: 100, done: 100 }
    ],
    events: [
      event(80, 'scheduler', 'user', 'info', 'training', '{"epoch": 1}'),
      event(Number.NaN, 'recorder', 'lost', 'warning', '3 rows were lost'),
      event(40, 'tcp://h:1', 'log', 'error', 'distributed.worker: <b>no</b> room'),
      event(40, 'scheduler', 'worker-lost', 'warning', 'a worker left', '{"lost": 1}')
    ]
  });
  stage = createStage(recording);
  view = events.create({ ...stage, surface: new Surface(), say: () => {} });
  host = document.createElement('div');
  host.append(...(view.controls ?? []), view.below as HTMLElement);
  document.body.append(host);
  view.layout();
});

afterEach(() => {
  view.dispose?.();
  host.remove();
});

const rows = (): (string | null)[][] =>
  [...host.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => cell.textContent));

it('lists what happened in its order, as text, with what a topic brought along', () => {
  expect(rows()).toEqual([
    ['–', 'warning', 'lost', 'recorder', '3 rows were lost'],
    ['40.000\u2009s', 'error', 'log', 'worker 3', 'distributed.worker: <b>no</b> room'],
    ['40.000\u2009s', 'warning', 'worker-lost', 'scheduler', 'a worker left'],
    ['1\u2009min 20.000\u2009s', 'info', 'user', 'scheduler', 'training epoch: 1']
  ]);
});

it('is narrowed by level, words, time and workers', () => {
  const [search, level] = [host.querySelector('input'), host.querySelector('select')];
  if (!search || !level) throw new Error('no controls');
  level.value = 'error';
  level.dispatchEvent(new Event('change'));
  expect(rows()).toHaveLength(1);
  expect(host.querySelector('caption')?.textContent).toBe('1 of 4 events');
  level.value = '';
  level.dispatchEvent(new Event('change'));
  search.value = 'EPOCH';
  search.dispatchEvent(new Event('input'));
  expect(rows().map(([, , kind]) => kind)).toEqual(['user']);
  search.value = '';
  search.dispatchEvent(new Event('input'));
  stage.selection.set({ source: 'x', column: 'time', value: { start: 30, stop: 50 } });
  view.layout();
  expect(rows().map(([, , kind]) => kind)).toEqual(['lost', 'log', 'worker-lost']);
  stage.selection.set({ source: 'x', column: 'worker', value: ['tcp://h:1'] });
  view.layout();
  expect(rows().map(([, , kind]) => kind)).toEqual(['log']);
});

it('says why there is nothing where nothing of it is chosen', () => {
  stage.selection.set({ source: 'x', column: 'worker', value: ['tcp://h:2'] });
  view.layout();
  expect(rows()).toEqual([]);
  expect(host.querySelector('caption')?.textContent).toBe(
    'Nothing happened besides tasks in what is chosen. Esc takes the last choice back.'
  );
});

it('tells of exceptions once for all that are alike, and narrows to the attempts that raised them', () => {
  const { recording, selection } = stage;
  const failed = (run: number, worker: string, status: string, exception: string): void => {
    const times = { start: run, stop: run + 0.5, done: run + 0.5 };
    recording.take(batchOf('attempts', [{ run, task: 2, worker, thread: '1', status, ...times }]));
    recording.take(batchOf('errors', [{ run, task: 2, exception }]));
  };
  recording.take(batchOf('graph', [{ task: 2, key: 'load-2', prefix: 'load' }]));
  failed(20, 'tcp://h:1', 'retried', "ValueError('no')\nand why");
  failed(21, 'tcp://h:1', 'retried', "ValueError('no')");
  failed(22, 'tcp://h:2', 'retried', "ValueError('no')");
  failed(23, 'tcp://h:2', 'erred', "ValueError('no')");
  view.layout();
  const tasks = (): (string | null)[][] => rows().filter(([, , kind]) => kind === 'task');
  expect(tasks()).toEqual([
    ['20.500\u2009s', 'error', 'task', '2 workers', "3 × load failed, was tried again: ValueError('no')"],
    ['23.500\u2009s', 'error', 'task', 'h:2', "load failed: ValueError('no')"]
  ]);
  const row = [...host.querySelectorAll('tbody tr')].find(each => each.textContent?.includes('3 ×'));
  row?.querySelector('button')?.click();
  expect(selection.filter().runs).toEqual(new Set([20, 21, 22]));
  view.layout();
  expect(tasks()).toHaveLength(2);
  selection.clear();
  selection.set({ source: 'x', column: 'worker', value: ['tcp://h:1'] });
  view.layout();
  expect(tasks().map(([, , , , message]) => message)).toEqual([
    "2 × load failed, was tried again: ValueError('no')"
  ]);
  selection.set({ source: 'x', column: 'name', value: ['sum'] });
  view.layout();
  expect(tasks()).toEqual([]);
});

it('brings the time of the one that is chosen into sight', () => {
  host.querySelectorAll<HTMLElement>('tbody button')[2].click();
  const { start, span } = stage.viewport;
  expect([start, span]).toEqual([35, 10]);
});

it('levels of old files that are none of ours are errors, and what has none is not', () => {
  const events = ['critical', ''].map(level => ({ time: 41, source: 'scheduler', kind: 'log', level }));
  stage.recording.take(batchOf('events', events));
  const level = host.querySelector('select');
  if (!level) throw new Error('no controls');
  level.value = 'error';
  level.dispatchEvent(new Event('change'));
  expect(rows().map(([, level]) => level)).toEqual(['error', 'critical']);
});
