import type { BudgetRows } from './budget';
import type { Layers } from './budget-layers';
import { sumsByName } from './budget-shares';
import { natural } from './natural';
import { placeIn } from './place-in';
import type { Recording } from './recording';
import { NOTHING } from './schema';
import { listedSpans } from './spans';
import { sumOf } from './sum-of';
import { clustersOf, workersOf } from './workers-of';

/** What the time budget is summed by. */
export const GROUPINGS = ['function', 'worker', 'cluster', 'span', 'cell', 'line'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The thread time of one function, worker, span, notebook cell or line of code. */
export interface BudgetGroup {
  /** Task name; worker; address of its scheduler; the span's path; the cell's number; `file:line`. '' for what belongs to none. */
  readonly key: string;
  /** Ids of the spans that share the path; the workers of a cluster; elsewhere the key alone. */
  readonly ids: readonly string[];
  /** Thread-seconds, of which `byLayer` are the parts. */
  readonly seconds: number;
  readonly byLayer: Float64Array;
}

/**
 * Sums the rows by one thing, most thread time first, those of the same time in the order of their names; what belongs
 * to none comes last. `chosen` are task names.
 */
export function budgetGroups(
  recording: Recording,
  rows: BudgetRows,
  seconds: Float64Array,
  layers: Layers,
  by: Grouping,
  chosen?: ReadonlySet<string>
): BudgetGroup[] {
  const { codes, keys, ids } = keysOf(recording, rows, by);
  const wide = layers.list.length;
  const sums =
    by === 'function'
      ? sumsByName(rows, seconds, layers, chosen)
      : sumsBy(codes, keys.length, seconds, layers);
  const told = workersOf(recording);
  const label = ({ key }: BudgetGroup): string => told.get(key)?.name ?? key;
  // Sums of the same time differ in their last digits.
  const known = ({ seconds }: BudgetGroup): number => Math.fround(seconds);
  return keys
    .map((key, place) => {
      const byLayer = sums.subarray(place * wide, (place + 1) * wide);
      return { key, ids: ids[place], seconds: sumOf(byLayer), byLayer };
    })
    .filter(group => group.seconds > 0)
    .sort(
      (a, b) =>
        Number(a.key === '') - Number(b.key === '') || known(b) - known(a) || natural(label(a), label(b))
    );
}

function sumsBy(
  codes: ArrayLike<number>,
  count: number,
  seconds: Float64Array,
  { list, of }: Layers
): Float64Array {
  const wide = list.length;
  const sums = new Float64Array(count * wide);
  for (let row = 0; row < seconds.length; row++) sums[codes[row] * wide + of[row]] += seconds[row];
  return sums;
}

interface Keys {
  /** Place in `keys` for each row. */
  readonly codes: ArrayLike<number>;
  readonly keys: readonly string[];
  readonly ids: readonly (readonly string[])[];
}

function keysOf(recording: Recording, rows: BudgetRows, by: Grouping): Keys {
  if (by === 'function') return alone(rows.name);
  if (by === 'worker') return alone(rows.worker);
  if (by === 'cluster') {
    const { codes, names } = rows.worker;
    const told = workersOf(recording);
    return merged(
      codes,
      names,
      names.map(worker => told.get(worker)?.cluster ?? '')
    );
  }
  return by === 'span' ? spanKeys(recording, rows) : submissionKeys(recording, rows, by);
}

function alone({ codes, names }: { codes: Uint32Array; names: readonly string[] }): Keys {
  return { codes, keys: names, ids: names.map(name => [name]) };
}

/** Spans that were entered several times under one name are one; each has only what ran in it itself. */
function spanKeys(recording: Recording, rows: BudgetRows): Keys {
  const pathOf = new Map<string, string>();
  for (const { within, path } of listedSpans(recording)) {
    for (const id of within) {
      // Inner spans come after those that they are in, and are named by themselves.
      pathOf.set(id, path);
    }
  }
  return merged(
    rows.span.codes,
    rows.span.names,
    rows.span.names.map(id => (id === '' ? '' : (pathOf.get(id) ?? id)))
  );
}

function submissionKeys(recording: Recording, rows: BudgetRows, by: 'cell' | 'line'): Keys {
  const table = recording.table('submissions');
  const submissions = table.numbers('submission');
  const executions = table.numbers('execution');
  const lines = table.numbers('line');
  const labels = new Map<number, string>();
  for (let row = 0; row < table.rows; row++) {
    const file = by === 'line' ? table.text('file', row) : '';
    const cell = executions[row] > 0 ? String(executions[row]) : '';
    labels.set(submissions[row], by === 'cell' ? cell : file && `${file}:${lines[row]}`);
  }
  const known = new Map<number, number>();
  const codes = Uint32Array.from(rows.submission, submission => placeIn(known, submission));
  const named = Array.from(known.keys(), number => (number === NOTHING ? '' : (labels.get(number) ?? '')));
  return merged(codes, named, named);
}

/** Groups of one label are one group. */
function merged(codes: ArrayLike<number>, ids: readonly string[], labels: readonly string[]): Keys {
  const places = new Map<string, number>();
  const inside: Set<string>[] = [];
  const placeOf = Uint32Array.from(labels, (label, at) => {
    const place = placeIn(places, label);
    inside[place] ??= new Set();
    inside[place].add(ids[at]);
    return place;
  });
  return {
    codes: Uint32Array.from(codes, code => placeOf[code]),
    keys: [...places.keys()],
    ids: inside.map(its => [...its])
  };
}

/** The groupings that tell something of a recording, besides the first two. */
export function groupingsOf(recording: Recording, rows: BudgetRows): Grouping[] {
  const submissions = recording.table('submissions');
  const has: Readonly<Record<Grouping, () => boolean>> = {
    function: () => true,
    worker: () => true,
    cluster: () => clustersOf(recording).length > 1,
    span: () => rows.span.names.some(name => name !== ''),
    cell: () => submissions.numbers('execution').some(execution => execution > 0),
    line: () => submissions.symbols('file').names.some(name => name !== '')
  };
  return GROUPINGS.filter(by => has[by]());
}
