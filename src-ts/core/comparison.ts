import type { Recording } from './recording';
import { NOTHING, type RowOf, TABLES, type TableName } from './schema';

/** What was compared; side 0 is the baseline. Figures are means over the runs of a side. */
export type Side = RowOf<'compared_sides'>;

/** One run of a side. */
export type SideRun = RowOf<'compared_runs'>;

/** A part of the time budget of a side. */
export type SidePart = RowOf<'compared_budget'>;

/** A task name on one side; a name's rows follow one another, in the order of what their change matters. */
export type SideName = RowOf<'compared_names'>;

/** A finding of a side or of the baseline. */
export type SideFinding = RowOf<'compared_findings'>;

/** Something that is not the same on all sides. */
export interface Setting {
  readonly kind: string;
  readonly name: string;
  /** By side. */
  readonly values: readonly string[];
}

/** Memory of all workers of one run, aligned at its start. Seconds and bytes. */
export interface MemoryRun {
  readonly side: number;
  readonly run: number;
  readonly time: Float64Array;
  readonly process: Float64Array;
  readonly managed: Float64Array;
}

/** Call stacks of all sides as one tree, callers before what they call; node 0 is the root of all. */
export interface SideStacks {
  readonly size: number;
  readonly parent: Int32Array;
  readonly functions: readonly string[];
  readonly files: readonly string[];
  readonly lines: Uint32Array;
  /** By side, seconds in the function itself and with what it called. */
  readonly self: readonly Float64Array[];
  readonly total: readonly Float64Array[];
}

export interface Comparison {
  readonly sides: readonly Side[];
  readonly runs: readonly SideRun[];
  readonly budget: readonly SidePart[];
  readonly names: readonly SideName[];
  readonly findings: readonly SideFinding[];
  readonly settings: readonly Setting[];
  readonly memory: readonly MemoryRun[];
  readonly stacks: SideStacks | undefined;
}

/** Tables that a comparison is made of. */
export const COMPARED = (Object.keys(TABLES) as TableName[]).filter(name => name.startsWith('compared_'));

/** True where a recording holds a comparison and no run of its own. */
export function isComparisonOnly(recording: Recording): boolean {
  return recording.table('compared_sides').rows > 0 && recording.table('attempts').rows === 0;
}

export function comparisonOf(recording: Recording): Comparison | undefined {
  const sides = recording.table('compared_sides').all();
  if (sides.length === 0) return undefined;
  return {
    sides: sides.sort((a, b) => a.side - b.side),
    runs: recording.table('compared_runs').all(),
    budget: recording.table('compared_budget').all(),
    names: recording.table('compared_names').all(),
    findings: recording.table('compared_findings').all(),
    settings: settingsOf(recording, sides.length),
    memory: memoryOf(recording),
    stacks: stacksOf(recording, sides.length)
  };
}

function settingsOf(recording: Recording, sides: number): Setting[] {
  const found = new Map<string, { kind: string; name: string; values: string[] }>();
  for (const { kind, name, side, value } of recording.table('compared_settings').all()) {
    const key = `${kind}\n${name}`;
    const setting = found.get(key) ?? { kind, name, values: new Array<string>(sides).fill('') };
    found.set(key, setting);
    if (side < sides) setting.values[side] = value;
  }
  return [...found.values()];
}

/** Rows of a run stand together, in the order of time. */
function memoryOf(recording: Recording): MemoryRun[] {
  const table = recording.table('compared_memory');
  const [side, run] = [table.numbers('side'), table.numbers('run')];
  const floats = (column: 'time' | 'process' | 'managed', from: number, to: number): Float64Array =>
    Float64Array.from(table.numbers(column).subarray(from, to));
  const found: MemoryRun[] = [];
  for (let from = 0; from < table.rows; ) {
    let to = from + 1;
    while (to < table.rows && side[to] === side[from] && run[to] === run[from]) to++;
    found.push({
      side: side[from],
      run: run[from],
      time: floats('time', from, to),
      process: floats('process', from, to),
      managed: floats('managed', from, to)
    });
    from = to;
  }
  return found;
}

function stacksOf(recording: Recording, sides: number): SideStacks | undefined {
  const table = recording.table('compared_stacks');
  if (table.rows === 0) return undefined;
  const [side, ids, parents] = [table.numbers('side'), table.numbers('node'), table.numbers('parent')];
  const [selfs, totals, lines] = [table.numbers('self'), table.numbers('total'), table.numbers('line')];
  const [functions, files] = [table.symbols('function'), table.symbols('file')];
  const places = new Map<number, number>();
  const first: number[] = [];
  for (let row = 0; row < table.rows; row++) {
    if (places.has(ids[row])) continue;
    first.push(row);
    places.set(ids[row], first.length);
  }
  const size = first.length + 1;
  const made: SideStacks = {
    size,
    // A caller that is not there, or that comes later, would make no tree.
    parent: Int32Array.from({ length: size }, (_, node) => {
      if (node === 0) return -1;
      const parent = parents[first[node - 1]];
      const place = parent === NOTHING ? 0 : (places.get(parent) ?? 0);
      return place < node ? place : 0;
    }),
    functions: ['', ...first.map(row => functions.names[functions.codes[row]])],
    files: ['', ...first.map(row => files.names[files.codes[row]])],
    lines: Uint32Array.from([0, ...first.map(row => lines[row])]),
    self: Array.from({ length: sides }, () => new Float64Array(size)),
    total: Array.from({ length: sides }, () => new Float64Array(size))
  };
  for (let row = 0; row < table.rows; row++) {
    const of = side[row];
    if (of >= sides) continue;
    const node = places.get(ids[row]) as number;
    made.self[of][node] = selfs[row];
    made.total[of][node] = totals[row];
    if (made.parent[node] === 0) made.total[of][0] += totals[row];
  }
  return made;
}
