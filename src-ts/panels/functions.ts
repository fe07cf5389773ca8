import { bytes, count, duration, nameOrNone, share } from '../core/format';
import { functionOf, placeWords } from '../core/functions-of';
import type { Recording } from '../core/recording';
import { sumOf } from '../core/sum-of';
import { sumTasks, type TaskSum } from '../core/task-sums';
import { noneChosen, noTasks } from './no-tasks';
import type { Panel } from './panel';
import { PlainView } from './plain-view';
import { lookedFor, searchBox } from './search-box';
import type { TableOptions } from './table';
import { nameColor } from './task-stream/colors';
import { type Column, number, rowsOf, some, text } from './things';

/** Task names with what they cost, as a table that can be sorted and searched, and that chooses. */
export const functions: Panel = {
  id: 'functions',
  title: 'Functions',
  tables: ['attempts', 'executions', 'running', 'phases', 'graph', 'functions'],
  overTime: false,
  create: context => new FunctionsView(context, functions.tables)
};

class FunctionsView extends PlainView {
  readonly search = searchBox('Search names', 'Search task names', () => this.layout());
  readonly controls = [this.search];
  private summed = '';
  private sums: readonly TaskSum[] = [];

  empty(): string | undefined {
    const { tasks, recording } = this.context;
    return tasks.count > 0 ? undefined : noTasks(recording);
  }

  protected override query(): string {
    return lookedFor(this.search);
  }

  protected content(): TableOptions {
    const { tasks, selection, colors, surface, recording } = this.context;
    // Sums are kept while a person searches, and chooses here: to look through all tasks takes long.
    const others = selection.clauses.filter(({ source }) => source !== 'functions');
    const state = recording.state(...functions.tables) + JSON.stringify(others);
    if (state !== this.summed) this.sums = sumTasks(tasks, selection.filter('functions'), 'name');
    this.summed = state;
    const all = this.sums;
    const query = this.query();
    const places = new Map(all.map(({ label }) => [label, placeOf(recording, label)]));
    const sums = all.filter(({ label }) =>
      [label, places.get(label) ?? ''].some(text => text.toLowerCase().includes(query))
    );
    const columns = columnsOf(all, places);
    const chosen = new Set(selection.own('functions', 'name'));
    return {
      caption: captionOf(sums.length, all.length, query, selection.clauses.length > 0),
      sort: 2,
      rows: rowsOf(sums, columns),
      swatch: row => nameColor(sums[row].label, colors, surface.theme),
      choose: row => selection.toggle('functions', 'name', sums[row].label),
      isChosen: row => chosen.has(sums[row].label)
    };
  }
}

function columnsOf(sums: readonly TaskSum[], places: ReadonlyMap<string, string>): Column<TaskSum>[] {
  const whole = sumOf(sums, ({ time }) => time);
  const columns: Column<TaskSum>[] = [
    { ...text('Task name', ({ label }) => label), words: ({ label }) => nameOrNone(label) },
    number('Attempts', sum => sum.count, count),
    number('Time', sum => sum.time, duration),
    number('Share', sum => sum.time / whole, share),
    number('Mean', sum => sum.mean, duration),
    number('Median', sum => sum.median, duration),
    number('95 %', sum => sum.p95, duration),
    number('Longest', sum => sum.longest, duration),
    number('Failed', sum => sum.failed, some),
    // Of imported files no sizes may be known.
    number('Results', sum => sum.nbytes || Number.NaN, bytes)
  ];
  if (sums.some(({ cpu }) => !Number.isNaN(cpu))) columns.push(number('CPU', sum => sum.cpu, share));
  columns.push(text('Defined in', ({ label }) => places.get(label) ?? ''));
  return columns;
}

function captionOf(shown: number, all: number, query: string, isChoice: boolean): string {
  if (all === 0 && !isChoice) return 'Of no task is known when it ran.';
  if (all === 0) return noneChosen('No task ran in');
  if (query === '') return 'Task names by computing time';
  return shown === 0 ? `No task name holds “${query}”` : `${count(shown)} of ${count(all)} task names`;
}

/** Where a function stands; its module where no file is known. '' if neither is. */
function placeOf(recording: Recording, name: string): string {
  const found = functionOf(recording, name);
  if (!found) return '';
  return placeWords(found) || [found.module, found.function].filter(Boolean).join('.');
}
