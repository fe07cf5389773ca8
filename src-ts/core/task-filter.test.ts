import { describe, expect, it, vi } from 'vitest';
import { EntryMask } from './entry-mask';
import { amountsOf } from './fine-metrics';
import { OK } from './lane';
import { type Clause, type Filter, Selection } from './selection';
import { entryTest, timeOf } from './task-filter';
import { sumTasks } from './task-sums';
import { Tasks } from './tasks';
import { batchOf, recordingOf } from './test-recording';
import { timeBudget } from './time-budget';

const ran = (run: number, start: number) => ({
  run,
  task: run,
  worker: 'w',
  thread: 't',
  status: 'ok',
  start,
  stop: start + 1
});

const recording = recordingOf({
  cells: [
    { execution: 3, start: 10, stop: 12 },
    { execution: 4, start: 20 }
  ],
  submissions: [
    { submission: 0, time: 10, tasks: 1, execution: 3, file: 'a.py', line: 7 },
    { submission: 1, time: 20, tasks: 1, execution: 4, file: 'a.py', line: 9 }
  ],
  graph: [
    { task: 0, key: 'inc-0', prefix: 'inc', submission: 0 },
    { task: 1, key: 'sum-1', prefix: 'sum', submission: 1 }
  ],
  attempts: [ran(0, 10), ran(1, 20)],
  metrics: [11, 21].map(time => ({
    time,
    worker: 'w',
    context: 'execute',
    activity: 'x',
    unit: 'seconds',
    value: time
  }))
});
const tasks = new Tasks(recording);

function filterOf(clause: Clause): Filter {
  const selection = new Selection();
  selection.set(clause);
  return selection.filter();
}

const cell = (execution: number): Filter => filterOf({ source: 'x', column: 'cell', value: [execution] });

describe('a line of code', () => {
  const lines = (...value: string[]): Filter => filterOf({ source: 'x', column: 'line', value });

  it('narrows tasks to those it handed in', () => {
    const names = (filter: Filter): string[] => sumTasks(tasks, filter, 'name').map(({ label }) => label);
    expect(names(lines('a.py:7'))).toEqual(['inc']);
    expect(names(lines('a.py:7', 'a.py:9'))).toEqual(['inc', 'sum']);
    expect(names({ ...lines('a.py:9'), cells: new Set([3]) })).toEqual([]);
    expect(timeOf(recording, lines('a.py:7'))).toBeUndefined();
  });
});

describe('a notebook cell', () => {
  it('narrows tasks to those it handed in, whatever its time', () => {
    expect(sumTasks(tasks, cell(3), 'name').map(({ label }) => label)).toEqual(['inc']);
    expect(sumTasks(tasks, cell(4), 'name').map(({ label }) => label)).toEqual(['sum']);
    expect(sumTasks(tasks, cell(9), 'name')).toEqual([]);
  });

  it('narrows what knows no tasks to the time in which it ran, which may go on', () => {
    expect(timeOf(recording, cell(3))).toEqual({ start: 10, stop: 12 });
    expect(timeOf(recording, cell(4))).toEqual({ start: 20, stop: 21 });
    expect(timeOf(recording, cell(9))).toBeUndefined();
    expect(amountsOf(recording, 'seconds', cell(3)).map(({ value }) => value)).toEqual([11]);
  });

  it('has a time budget of its own', () => {
    const { parts } = timeBudget(tasks, cell(3));
    expect([parts.computing, parts.other, parts.idle]).toEqual([1, 0, 1]);
  });
});

describe('a mask of entries', () => {
  it('grows with the rows, and looks again at what came before its task', () => {
    const growing = recordingOf({ attempts: [ran(0, 10)] });
    const followed = new Tasks(growing);
    const mask = new EntryMask(followed, filterOf({ source: 'x', column: 'span', value: ['s'] }));
    expect(mask.passes(0, OK)).toBe(false);
    growing.take(batchOf('graph', [{ task: 0, key: 'inc-0', prefix: 'inc', span: 's' }]));
    growing.take(batchOf('attempts', [ran(1, 12)]));
    growing.take(batchOf('graph', [{ task: 1, key: 'inc-1', prefix: 'inc', span: 't' }]));
    mask.update();
    expect([mask.passes(0, OK), mask.passes(1, OK)]).toEqual([true, false]);
    expect(mask.update()).toBe(false);
  });

  it('costs nothing while no rows come, however many submissions there are', () => {
    const growing = recordingOf({
      attempts: [ran(0, 10)],
      submissions: [{ submission: 1, time: 9, execution: 3 }]
    });
    const mask = new EntryMask(new Tasks(growing), filterOf({ source: 'x', column: 'cell', value: [3] }));
    const read = vi.spyOn(growing.table('submissions'), 'numbers');
    mask.update();
    expect(read).not.toHaveBeenCalled();
    growing.take(batchOf('attempts', [ran(1, 12)]));
    mask.update();
    expect(read).toHaveBeenCalled();
  });

  it('is not there when nothing goes by entry', () => {
    expect(entryTest(tasks, new Selection().filter())).toBeUndefined();
  });
});
