import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as taskSums from '../core/task-sums';
import { batchOf, type Row, recordingOf } from '../core/test-recording';
import { Surface } from '../draw/surface';
import { functions } from './functions';
import type { PanelView, Stage } from './panel';
import { createStage } from './stage';

const attempt = (run: number, task: number, start: number, stop: number, more: Row = {}): Row => ({
  run,
  task,
  worker: 'a',
  thread: '1',
  status: 'ok',
  start,
  stop,
  done: stop,
  nbytes: 1024,
  ...more
});

let stage: Stage;
let view: PanelView;
let host: HTMLElement;

beforeEach(() => {
  const recording = recordingOf({
    graph: [
      { task: 1, key: 'read-1', prefix: 'read_parquet' },
      { task: 2, key: 'sum-2', prefix: 'sum' },
      { task: 3, key: 'sum-3', prefix: 'sum' }
    ],
    attempts: [attempt(1, 1, 0, 4), attempt(2, 2, 4, 5), attempt(3, 3, 5, 8, { status: 'erred' })],
    executions: [
      { run: 1, worker: 'a', cpu: 1 },
      { run: 2, worker: 'a', cpu: 1 },
      { run: 3, worker: 'a', cpu: 1 }
    ],
    functions: [
      {
        prefix: 'sum',
        function: 'total',
        module: 'app',
        file: '/home/me/app.py',
        line: 12,
        source: 'definition'
      },
      { prefix: 'read_parquet', function: 'read', module: 'lib', file: '', line: 0, source: 'definition' }
    ]
  });
  stage = createStage(recording);
  view = functions.create({ ...stage, surface: new Surface(), say: () => {} });
  host = document.createElement('div');
  host.append(...(view.controls ?? []), view.below as HTMLElement);
  document.body.append(host);
  view.layout();
});

afterEach(() => {
  view.dispose?.();
  host.remove();
});

const texts = (selector: string): string[] =>
  [...host.querySelectorAll(selector)].map(each => (each.textContent ?? '').replace(/\s/g, ' '));
const names = (): string[] => texts('tbody th');
const press = (title: string): void =>
  [...host.querySelectorAll<HTMLButtonElement>('thead button')]
    .find(each => each.textContent === title)
    ?.click();

function search(text: string): void {
  (view.search as HTMLInputElement).value = text;
  view.search?.dispatchEvent(new Event('input'));
}

describe('functions', () => {
  it('have their figures, and the place of their code', () => {
    expect(texts('thead th')).toEqual([
      'Task name',
      'Attempts',
      'Time',
      'Share',
      'Mean',
      'Median',
      '95 %',
      'Longest',
      'Failed',
      'Results',
      'CPU',
      'Defined in'
    ]);
    expect(texts('tbody tr:first-child > *')).toEqual([
      'read_parquet',
      '1',
      '4 s',
      '50 %',
      '4 s',
      '4 s',
      '4 s',
      '4 s',
      '',
      '1 KiB',
      '25 %',
      'lib.read'
    ]);
    expect(texts('tbody tr:last-child > *')).toEqual([
      'sum',
      '2',
      '4 s',
      '50 %',
      '2 s',
      '2 s',
      '2.9 s',
      '3 s',
      '1',
      '1 KiB',
      '50 %',
      'me/app.py:12'
    ]);
  });

  it('can be sorted by each column', () => {
    press('Mean');
    expect(names()).toEqual(['read_parquet', 'sum']);
    press('Mean');
    expect(names()).toEqual(['sum', 'read_parquet']);
    press('Defined in');
    expect(names()).toEqual(['read_parquet', 'sum']);
  });

  it('can be searched by name and place', () => {
    search('PARQ');
    expect(names()).toEqual(['read_parquet']);
    search('app.py');
    expect(names()).toEqual(['sum']);
    expect(texts('caption')).toEqual(['1 of 2 task names']);
    search('nothing');
    expect(texts('caption')).toEqual(['No task name holds “nothing”']);
    view.search?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', cancelable: true }));
    expect(names()).toHaveLength(2);
  });

  it('are summed once, however one searches and chooses here, and anew when others choose or more has come', () => {
    const summed = vi.spyOn(taskSums, 'sumTasks');
    search('su');
    search('sum');
    host.querySelector<HTMLButtonElement>('tbody button')?.click();
    view.layout();
    expect(names()).toEqual(['sum']);
    expect(summed).not.toHaveBeenCalled();
    stage.selection.set({ source: 'x', column: 'time', value: { start: 4, stop: 5 } });
    view.layout();
    expect(summed).toHaveBeenCalledTimes(1);
    expect(texts('tbody td:nth-of-type(1)')).toEqual(['1']);
    stage.recording.take(batchOf('attempts', [attempt(4, 2, 4.5, 5)]));
    view.layout();
    expect(summed).toHaveBeenCalledTimes(2);
    expect(texts('tbody td:nth-of-type(1)')).toEqual(['2']);
    summed.mockRestore();
  });

  it('say why there are none where nothing of them is chosen', () => {
    stage.selection.set({ source: 'x', column: 'time', value: { start: 20, stop: 30 } });
    search('sum');
    expect(texts('caption')).toEqual(['No task ran in what is chosen. Esc takes the last choice back.']);
    expect(names()).toEqual([]);
  });

  it('say why there are none where of no task is known when it ran', () => {
    const recording = recordingOf({ attempts: [attempt(1, 1, 0, 4, { status: 'lost' })] });
    const unknown = functions.create({ ...createStage(recording), surface: new Surface(), say: () => {} });
    unknown.layout();
    expect(unknown.empty()).toBeUndefined();
    expect(unknown.below?.querySelector('caption')?.textContent).toBe('Of no task is known when it ran.');
    unknown.dispose?.();
  });

  it('choose their name, and take it back', () => {
    host.querySelector<HTMLButtonElement>('tbody button')?.click();
    expect(stage.selection.clauses).toEqual([
      { source: 'functions', column: 'name', value: ['read_parquet'] }
    ]);
    view.layout();
    expect(host.querySelector('tbody button')?.getAttribute('aria-pressed')).toBe('true');
    expect(names()).toHaveLength(2);
    host.querySelector<HTMLButtonElement>('tbody button')?.click();
    expect(stage.selection.clauses).toEqual([]);
  });
});
