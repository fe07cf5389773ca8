import { bytes, count, duration, share } from '../core/format';
import { sumTasks, type TaskSum } from '../core/task-sums';
import { css } from '../draw/palette';
import type { Panel } from './panel';
import { PlainView } from './plain-view';
import type { TableOptions } from './table';

/** Task names with what they cost, as a table. */
export const functions: Panel = {
  id: 'functions',
  title: 'Functions',
  tables: ['attempts', 'executions', 'running', 'graph'],
  overTime: false,
  create: context => new FunctionsView(context, functions.tables)
};

class FunctionsView extends PlainView {
  empty(): string | undefined {
    if (this.context.tasks.count > 0) return undefined;
    return 'No task has run yet. Run a Dask computation while this is recorded.';
  }

  protected content(): TableOptions {
    const { tasks, selection, colors, surface } = this.context;
    const sums = sumTasks(tasks, selection.filter('functions'), 'name');
    const all = sums.reduce((total, { time }) => total + time, 0);
    const chosen = new Set(selection.own('functions', 'name') ?? []);
    const values = (sum: TaskSum): (string | number)[] => [
      sum.label,
      sum.count,
      sum.time,
      sum.time / all,
      sum.mean,
      sum.median,
      sum.longest,
      sum.nbytes,
      sum.failed
    ];
    return {
      caption: 'Task names by computing time',
      sort: 2,
      rows: {
        columns: [
          { title: 'Task name', numeric: false },
          { title: 'Tasks', numeric: true },
          { title: 'Time', numeric: true },
          { title: 'Share', numeric: true },
          { title: 'Mean', numeric: true },
          { title: 'Median', numeric: true },
          { title: 'Longest', numeric: true },
          { title: 'Results', numeric: true },
          { title: 'Failed', numeric: true }
        ],
        length: sums.length,
        row: row => {
          const sum = sums[row];
          return [
            sum.label || '(no name)',
            count(sum.count),
            duration(sum.time),
            share(sum.time / all),
            duration(sum.mean),
            duration(sum.median),
            duration(sum.longest),
            bytes(sum.nbytes),
            sum.failed > 0 ? count(sum.failed) : ''
          ];
        },
        value: (row, column) => values(sums[row])[column]
      },
      swatch: row => css(colors.color(sums[row].label, surface.theme.dark, surface.theme.contrast)),
      choose: row => selection.toggle('functions', 'name', sums[row].label),
      isChosen: row => chosen.has(sums[row].label)
    };
  }
}
