import type { Comparison, Setting, Side, SideFinding, SideName, SidePart } from '../../core/comparison';
import { SEVERITIES, type Severity } from '../../core/findings';
import { count, duration, MISSING, nameOrNone, share, signed } from '../../core/format';
import { texts } from '../../core/json-list';
import type { TableOptions } from '../table';
import { type Column, number, rowsOf, text } from '../things';
import { partWords } from '../time-budget/words';
import { partsOf } from './bars';
import { nameWords, sideName } from './words';

/** A comparison of one side with the baseline. */
export interface Pair {
  readonly comparison: Comparison;
  readonly before: Side;
  readonly after: Side;
}

/** What a click on a task name does, where tasks of that name are in the page. */
export interface Chooser {
  choose(names: readonly string[]): void;
  isChosen(names: readonly string[]): boolean;
}

/** Parts of the time budget: the seconds of wall time that each stands for. */
export function budgetTable(
  { comparison, before, after }: Pair,
  swatch: (part: string) => string
): TableOptions {
  const parts = partsOf(comparison.budget);
  const of = (part: string, side: Side): SidePart | undefined =>
    comparison.budget.find(each => each.part === part && each.side === side.side);
  return {
    caption: 'Wall time by time budget',
    swatch: row => swatch(parts[row]),
    isFaint: row => of(parts[row], after)?.verdict === 'same',
    rows: rowsOf(parts, [
      text('Part', part => partWords(part, '', false).words),
      number(sideName(before), part => of(part, before)?.wall ?? Number.NaN, duration),
      number(sideName(after), part => of(part, after)?.wall ?? Number.NaN, duration),
      number('Change', part => of(part, after)?.change ?? Number.NaN, signed),
      number('Noise ±', part => of(part, after)?.noise ?? Number.NaN, duration)
    ])
  };
}

/** The order in which two sides stand, where there are more: what is no noise, then what costs or saves most. */
function byMatter(a: SideName, b: SideName): number {
  return (
    Number(a.verdict === 'same') - Number(b.verdict === 'same') || Math.abs(b.impact) - Math.abs(a.impact)
  );
}

/** Task names, that whose change matters most first. */
export function nameTable(
  { comparison, before, after }: Pair,
  swatch: (name: string) => string,
  chooser?: Chooser
): TableOptions {
  const baseline = new Map(
    comparison.names.filter(({ side }) => side === before.side).map(each => [each.name, each])
  );
  // A name may be there for a third side only.
  const rows = comparison.names.filter(
    ({ side, name, count }) => side === after.side && (count > 0 || (baseline.get(name)?.count ?? 0) > 0)
  );
  if (comparison.sides.length > 2) rows.sort(byMatter);
  const both = (
    title: string,
    value: (name: SideName) => number,
    words: (value: number) => string
  ): Column<SideName>[] => [
    number(
      `${title}, ${sideName(before)}`,
      ({ name }) => {
        const base = baseline.get(name);
        return base ? value(base) : Number.NaN;
      },
      words
    ),
    number(`${title}, ${sideName(after)}`, value, words)
  ];
  return {
    caption: 'Task names, the change that matters most to the wall time first',
    swatch: row => swatch(rows[row].name),
    ...(chooser
      ? {
          choose: row => chooser.choose(texts(rows[row].names)),
          isChosen: row => chooser.isChosen(texts(rows[row].names))
        }
      : {}),
    isFaint: row => rows[row].verdict === 'same',
    rows: rowsOf(rows, [
      { ...text('Task name', ({ name }) => name), words: ({ name }) => nameOrNone(name) },
      text('What changed', each => nameWords(baseline.get(each.name), each, [before, after])),
      number('Costs', ({ impact }) => impact, signed),
      ...both('Mean', ({ mean }) => mean, duration),
      ...both('Tasks', ({ count }) => count, count),
      ...both('Total', ({ seconds }) => seconds, duration),
      ...both('Share', ({ share }) => share, share)
    ])
  };
}

const STATES: Readonly<Record<string, number>> = { came: 0, went: 1, stayed: 2 };

/** Findings that came, that went, and that stayed. */
export function findingTable({ comparison, before, after }: Pair): TableOptions | undefined {
  const found = comparison.findings
    .filter(({ side }) => side === after.side)
    .sort((a, b) => (STATES[a.state] ?? 3) - (STATES[b.state] ?? 3));
  if (found.length === 0) return undefined;
  const runs = ({ runs_before, runs_after }: SideFinding): string =>
    `${count(runs_before)} of ${count(before.runs)}, ${count(runs_after)} of ${count(after.runs)}`;
  const several = before.runs > 1 || after.runs > 1;
  return {
    caption: 'Findings that came, went and stayed; what they cost of the wall time',
    isFaint: row => found[row].state === 'stayed',
    rows: rowsOf(found, [
      text('Finding', ({ state, code }) => `${state} ${code}`),
      {
        ...text('Severity', ({ severity }) => severity),
        value: ({ severity }) => SEVERITIES.indexOf(severity as Severity)
      },
      { ...text('What it says', ({ title }) => title.replaceAll('`', '')), prose: true },
      number(sideName(before), ({ cost_before }) => cost_before, duration),
      number(sideName(after), ({ cost_after }) => cost_after, duration),
      ...(several ? [text('In runs', runs)] : [])
    ])
  };
}

/** Versions, configuration and surroundings that differ. */
export function settingTable({ comparison }: Pair): TableOptions | undefined {
  const { settings, sides } = comparison;
  if (settings.length === 0) return undefined;
  return {
    caption: 'What differs besides: versions, configuration, surroundings',
    rows: rowsOf(settings, [
      text('Name', ({ name }) => name),
      text('Kind', ({ kind }) => kind),
      ...sides.map((side, at) => text<Setting>(sideName(side), ({ values }) => values[at] || MISSING))
    ])
  };
}
