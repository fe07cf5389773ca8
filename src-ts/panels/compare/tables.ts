import type { Comparison, Side, SideFinding, SideName, SidePart } from '../../core/comparison';
import { count, duration, MISSING, share } from '../../core/format';
import type { TableOptions } from '../table';
import { partWords } from '../time-budget/words';
import { partsOf } from './bars';
import { nameWords, sideName, signed } from './words';

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

const figure = (value: number | undefined, words: (value: number) => string = duration): string =>
  value === undefined || !Number.isFinite(value) ? MISSING : words(value);

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
    rows: {
      columns: [
        { title: 'Part', numeric: false },
        { title: sideName(before), numeric: true },
        { title: sideName(after), numeric: true },
        { title: 'Change', numeric: true },
        { title: 'Noise ±', numeric: true }
      ],
      length: parts.length,
      row: row => {
        const [a, b] = [of(parts[row], before), of(parts[row], after)];
        return [
          partWords(parts[row], '', false).words,
          figure(a?.wall),
          figure(b?.wall),
          figure(b?.change, signed),
          figure(b?.noise)
        ];
      },
      value: (row, column) => {
        const [a, b] = [of(parts[row], before), of(parts[row], after)];
        const missing = Number.NaN;
        return [
          partWords(parts[row], '', false).words,
          a?.wall ?? missing,
          b?.wall ?? missing,
          b?.change ?? missing,
          b?.noise ?? missing
        ][column];
      }
    }
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
  const values = (row: number): (string | number)[] => {
    const b = rows[row];
    const a = baseline.get(b.name);
    const missing = Number.NaN;
    return [
      b.name,
      nameWords(a, b, [before, after]),
      b.impact,
      a?.mean ?? missing,
      b.mean,
      a?.count ?? missing,
      b.count,
      a?.seconds ?? missing,
      b.seconds,
      a?.share ?? missing,
      b.share
    ];
  };
  const [one, two] = [sideName(before), sideName(after)];
  const words: readonly ((value: number) => string)[] = [
    signed,
    duration,
    duration,
    count,
    count,
    duration,
    duration,
    share,
    share
  ];
  const titles = ['Mean', 'Tasks', 'Total', 'Share'].flatMap(title => [
    `${title}, ${one}`,
    `${title}, ${two}`
  ]);
  return {
    caption: 'Task names, the change that matters most to the wall time first',
    swatch: row => swatch(rows[row].name),
    ...(chooser
      ? {
          choose: row => chooser.choose(rows[row].own),
          isChosen: row => chooser.isChosen(rows[row].own)
        }
      : {}),
    isFaint: row => rows[row].verdict === 'same',
    rows: {
      columns: [
        { title: 'Task name', numeric: false },
        { title: 'What changed', numeric: false },
        { title: 'Costs', numeric: true },
        ...titles.map(title => ({ title, numeric: true }))
      ],
      length: rows.length,
      row: row => {
        const [name, what, ...numbers] = values(row);
        return [
          String(name) || '(no name)',
          String(what),
          ...numbers.map((n, at) => figure(Number(n), words[at]))
        ];
      },
      value: (row, column) => values(row)[column]
    }
  };
}

const STATES: Readonly<Record<string, number>> = { came: 0, went: 1, stayed: 2 };

/** Findings that came, that went, and that stayed. */
export function findingTable({ comparison, before, after }: Pair): TableOptions | undefined {
  const found = comparison.findings
    .filter(({ side }) => side === after.side)
    .sort((a, b) => (STATES[a.state] ?? 3) - (STATES[b.state] ?? 3));
  if (found.length === 0) return undefined;
  const runs = ({ runsBefore, runsAfter }: SideFinding): string =>
    `${count(runsBefore)} of ${count(before.runs)}, ${count(runsAfter)} of ${count(after.runs)}`;
  const several = before.runs > 1 || after.runs > 1;
  return {
    caption: 'Findings that came, went and stayed; what they cost of the wall time',
    isFaint: row => found[row].state === 'stayed',
    rows: {
      columns: [
        { title: 'Finding', numeric: false },
        { title: 'Severity', numeric: false },
        { title: 'What it says', numeric: false },
        { title: sideName(before), numeric: true },
        { title: sideName(after), numeric: true },
        ...(several ? [{ title: 'In runs', numeric: false }] : [])
      ],
      length: found.length,
      row: row => {
        const each = found[row];
        const told = [`${each.state} ${each.code}`, each.severity, each.title.replaceAll('`', '')];
        const costs = [figure(each.costBefore), figure(each.costAfter)];
        return [...told, ...costs, ...(several ? [runs(each)] : [])];
      },
      value: (row, column) => {
        const each = found[row];
        const told = [`${each.state} ${each.code}`, each.severity, each.title];
        return [...told, each.costBefore, each.costAfter, runs(each)][column];
      }
    }
  };
}

/** Versions, configuration and surroundings that differ. */
export function settingTable({ comparison }: Pair): TableOptions | undefined {
  const { settings, sides } = comparison;
  if (settings.length === 0) return undefined;
  return {
    caption: 'What differs besides: versions, configuration, surroundings',
    rows: {
      columns: [
        { title: 'Name', numeric: false },
        { title: 'Kind', numeric: false },
        ...sides.map(side => ({ title: sideName(side), numeric: false }))
      ],
      length: settings.length,
      row: row => [
        settings[row].name,
        settings[row].kind,
        ...settings[row].values.map(value => value || MISSING)
      ]
    }
  };
}
