import type { Recording, Stop } from '../../core/recording';
import { type Clause, type ClauseColumn, type Filter, PYTHON, type Selection } from '../../core/selection';
import { listen, type Model, type Traits } from './model';

/** How long a selection must rest before Python hears of it, milliseconds. */
const REST = 150;

type Selecting = 'time_range' | 'names' | 'workers' | 'spans' | 'runs' | 'cells' | 'lines';

/** One trait and the column it narrows. */
interface Link {
  readonly trait: Selecting;
  readonly column: ClauseColumn;
  /** What the clauses of all sources leave together. */
  read(filter: Filter, started: number): Traits[Selecting];
  /** The value of a clause; undefined where the trait narrows nothing. */
  write(value: Traits[Selecting], started: number): Clause['value'] | undefined;
}

function list(trait: Exclude<Selecting, 'time_range'>, column: ClauseColumn): Link {
  return {
    trait,
    column,
    read: ({ [trait]: found }) => (found ? ([...found] as string[]) : null),
    write: value =>
      Array.isArray(value) && value.length > 0 ? (value as unknown as Clause['value']) : undefined
  };
}

/** Microseconds are as fine as times are recorded. */
function micros(seconds: number): number {
  return Number(seconds.toFixed(6));
}

const LINKS: readonly Link[] = [
  {
    trait: 'time_range',
    column: 'time',
    read: ({ time }, started) => (time ? [micros(time.start - started), micros(time.stop - started)] : null),
    write: (value, started) => {
      const [start, stop] = (value ?? []) as [number, number];
      // What is infinite comes as no number.
      if (![start, stop].every(Number.isFinite)) return undefined;
      return { start: started + start, stop: started + stop };
    }
  },
  list('names', 'name'),
  list('workers', 'worker'),
  list('spans', 'span'),
  list('runs', 'run'),
  list('cells', 'cell'),
  list('lines', 'line')
];

/** Keeps a model's traits and a selection the same, whichever of them changes. Returns the stop. */
export function keepTraits(model: Model, selection: Selection, recording: Recording): Stop {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let taking = false;
  const zero = (): number => model.get('_started') || recording.origin;

  const toSelection = ({ trait, column, read, write }: Link): void => {
    const started = zero();
    if (trait === 'time_range' && started === 0) return;
    const value = model.get(trait);
    if (same(read(selection.filter(), started), value)) return;
    taking = true;
    const clause = write(value, started);
    selection.only(column, clause ? [{ source: PYTHON, column, value: clause } as Clause] : []);
    taking = false;
    if (!same(read(selection.filter(), started), value)) later();
  };

  const toModel = (): void => {
    const started = zero();
    const filter = selection.filter();
    let changed = false;
    for (const { trait, read } of LINKS) {
      const value = read(filter, started);
      if (same(value, model.get(trait))) continue;
      model.set(trait, value);
      changed = true;
    }
    if (changed) model.save_changes();
  };

  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(toModel, REST);
  };

  const stops = LINKS.map(link => listen(model, `change:${link.trait}`, () => toSelection(link)));
  for (const link of LINKS) toSelection(link);
  stops.push(
    listen(model, 'change:_started', () => toSelection(LINKS[0] as Link)),
    selection.subscribe(() => {
      if (!taking) later();
    }),
    () => clearTimeout(timer)
  );
  return () => {
    for (const stop of stops) stop();
  };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
