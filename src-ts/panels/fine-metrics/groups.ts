import { type Amount, amountsOf, type Bar, barsOf } from '../../core/fine-metrics';
import type { Recording } from '../../core/recording';
import type { Selection } from '../../core/selection';

/** Bars that belong together. */
export interface Group {
  readonly id: string;
  readonly title: string;
  readonly bars: readonly Bar[];
  /** Whether a bar is a task name, which can be chosen. */
  readonly named: boolean;
}

/** The pictures of one unit that hold anything. */
export function groupsOf(recording: Recording, unit: string, selection: Selection): Group[] {
  const chosen = selection.filter();
  const narrowed = amountsOf(recording, unit, chosen);
  // The stretch that is marked in the panel counts: what is drawn over time shows all of it.
  const all = amountsOf(recording, unit, { ...selection.filter('fine-metrics'), time: chosen.time });
  const of = (amounts: readonly Amount[], ...wanted: string[]): Amount[] =>
    amounts.filter(({ direction }) => wanted.includes(direction));
  const activity = ({ activity: name }: Amount): string => name;
  const moved = ({ direction, context, name }: Amount): string =>
    direction === 'send' || direction === 'receive' ? direction : `${context} ${name}`.trim();
  return [
    {
      id: 'activity',
      title: 'Execution by activity',
      bars: barsOf(of(narrowed, 'execute'), activity, activity),
      named: false
    },
    {
      id: 'function',
      title: 'Execution by function',
      bars: barsOf(of(all, 'execute'), ({ name }) => name, activity),
      named: true
    },
    {
      id: 'moved',
      title: 'Send and receive',
      bars: barsOf(of(all, 'send', 'receive'), moved, activity),
      named: false
    },
    { id: 'other', title: 'Elsewhere', bars: barsOf(of(all, 'other'), moved, activity), named: false }
  ].filter(({ bars }) => bars.length > 0);
}
