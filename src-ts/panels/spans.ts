import { count, duration, share } from '../core/format';
import { listedSpans, type Span } from '../core/spans';
import { sumTasks, type TaskSum } from '../core/task-sums';
import type { Panel } from './panel';
import { PlainView } from './plain-view';
import type { TableOptions } from './table';

/** The spans that a person put around computations, and computations in none, with what ran inside each. */
export const spans: Panel = {
  id: 'spans',
  title: 'Spans',
  tables: ['spans', 'attempts', 'executions', 'running', 'graph', 'submissions'],
  overTime: false,
  create: context => new SpansView(context, spans.tables)
};

interface Row {
  readonly span: Span;
  readonly count: number;
  readonly time: number;
  readonly longest: number;
  readonly failed: number;
}

class SpansView extends PlainView {
  empty(): string | undefined {
    const { recording } = this.context;
    if (listedSpans(recording).length > 0) return undefined;
    const said = recording.hasEnded ? 'No computation had a span' : 'No computation has a span yet';
    return `${said}. \`with distributed.span("name"):\` around a part of the work tells it apart, where a Client runs it: local schedulers have no spans.`;
  }

  protected content(): TableOptions {
    const { recording, tasks, selection } = this.context;
    const found = new Map(
      sumTasks(tasks, selection.filter('spans'), 'span').map(each => [each.label, each] as const)
    );
    const all = [...found.values()].reduce((sum, { time }) => sum + time, 0);
    const rows = listedSpans(recording).map(span => rowOf(span, found));
    const chosen = new Set(selection.own('spans', 'span') ?? []);
    const cells = ({ span, ...sums }: Row): (string | number)[] => [
      span.path,
      sums.count,
      sums.time,
      sums.time / all,
      sums.longest,
      sums.failed
    ];
    return {
      caption: 'Spans with all that ran inside them',
      rows: {
        columns: [
          { title: 'Span', numeric: false },
          { title: 'Tasks', numeric: true },
          { title: 'Time', numeric: true },
          { title: 'Share', numeric: true },
          { title: 'Longest', numeric: true },
          { title: 'Failed', numeric: true }
        ],
        length: rows.length,
        row: row => {
          const { span, ...sums } = rows[row];
          return [
            span.path,
            count(sums.count),
            duration(sums.time),
            share(sums.time / all),
            duration(sums.longest),
            sums.failed > 0 ? count(sums.failed) : ''
          ];
        },
        value: (row, column) => cells(rows[row])[column]
      },
      choose: row => {
        const { within } = rows[row].span;
        const kept = [...chosen].filter(id => !within.includes(id));
        const next = chosen.has(within[0]) ? kept : [...kept, ...within];
        selection.set({ source: 'spans', column: 'span', value: next });
      },
      isChosen: row => chosen.has(rows[row].span.id)
    };
  }
}

function rowOf(span: Span, found: ReadonlyMap<string, TaskSum>): Row {
  const sums = span.within.flatMap(id => found.get(id) ?? []);
  const total = (of: (sum: TaskSum) => number): number => sums.reduce((before, sum) => before + of(sum), 0);
  return {
    span,
    count: total(sum => sum.count),
    time: total(sum => sum.time),
    longest: sums.length > 0 ? Math.max(...sums.map(sum => sum.longest)) : Number.NaN,
    failed: total(sum => sum.failed)
  };
}
