import { count, duration, share } from '../core/format';
import { type ListedSpan, listedSpans } from '../core/spans';
import { sumOf } from '../core/sum-of';
import { sumTasks, type TaskSum } from '../core/task-sums';
import type { Panel } from './panel';
import { PlainView } from './plain-view';
import type { TableOptions } from './table';
import { number, rowsOf, some, text } from './things';

/** The spans that a person put around computations, and computations in none, with what ran inside each. */
export const spans: Panel = {
  id: 'spans',
  title: 'Spans',
  tables: ['spans', 'attempts', 'executions', 'running', 'phases', 'graph', 'submissions'],
  overTime: false,
  create: context => new SpansView(context, spans.tables)
};

interface Row {
  readonly span: ListedSpan;
  readonly count: number;
  /** From the first start to the last end, of each time that it was entered. */
  readonly took: number;
  /** Of threads. */
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
    const all = sumOf(found.values(), ({ time }) => time);
    const rows = listedSpans(recording).map(span => rowOf(span, found));
    const chosen = new Set(selection.own('spans', 'span'));
    return {
      caption: 'Spans with all that ran inside them',
      rows: rowsOf(rows, [
        text('Span', ({ span }) => span.path),
        number('Attempts', row => row.count, count),
        number('Took', row => row.took, duration),
        number('Time', row => row.time, duration),
        number('Share', row => row.time / all, share),
        number('Longest', row => row.longest, duration),
        number('Failed', row => row.failed, some)
      ]),
      choose: row => {
        const { within } = rows[row].span;
        const next = new Set(chosen);
        for (const id of within) chosen.has(within[0]) ? next.delete(id) : next.add(id);
        selection.set({ source: 'spans', column: 'span', value: [...next] });
      },
      isChosen: row => chosen.has(rows[row].span.id)
    };
  }
}

function rowOf(span: ListedSpan, found: ReadonlyMap<string, TaskSum>): Row {
  const sumsOf = (ids: readonly string[]): TaskSum[] => ids.flatMap(id => found.get(id) ?? []);
  const sums = sumsOf(span.within);
  const entries = span.entries.map(sumsOf).filter(({ length }) => length > 0);
  const total = (of: (sum: TaskSum) => number): number => sumOf(sums, of);
  return {
    span,
    count: total(sum => sum.count),
    took: entries.reduce((before, sums) => (before || 0) + lasted(sums), Number.NaN),
    time: total(sum => sum.time),
    longest: Math.max(...sums.map(sum => sum.longest || Number.NEGATIVE_INFINITY)),
    failed: total(sum => sum.failed)
  };
}

function lasted(sums: readonly TaskSum[]): number {
  return Math.max(...sums.map(({ end }) => end)) - Math.min(...sums.map(({ begin }) => begin));
}
