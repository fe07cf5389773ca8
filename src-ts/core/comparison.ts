import type { Severity } from './findings';
import { texts } from './json-list';
import type { Recording, Table } from './recording';
import { NOTHING, type TableName } from './schema';

/** What was compared; side 0 is the baseline. Figures are means over the runs of a side. */
export interface Side {
  readonly side: number;
  readonly name: string;
  readonly runs: number;
  readonly workers: number;
  readonly threads: number;
  /** Wall time, and that of the baseline taken from it. Seconds. */
  readonly seconds: number;
  readonly change: number;
  /** A change up to this, either way, says nothing. Seconds. */
  readonly noise: number;
  readonly tasks: number;
  readonly memory: number;
  /** `baseline`, `same`, `slower` or `faster`. */
  readonly verdict: string;
  readonly text: string;
}

/** One run of a side. */
export interface SideRun {
  readonly side: number;
  readonly run: number;
  readonly name: string;
  readonly seconds: number;
}

/** A part of the time budget of a side. Seconds of wall time, which add up to the side's. */
export interface SidePart {
  readonly side: number;
  /** `computing`, `overhead` or `idle`. */
  readonly kind: string;
  readonly part: string;
  readonly seconds: number;
  readonly share: number;
  readonly wall: number;
  readonly change: number;
  readonly noise: number;
  readonly verdict: string;
}

/** A task name on one side; a name's rows follow one another, in the order of what their change matters. */
export interface SideName {
  readonly side: number;
  readonly name: string;
  /** Names of the side's tasks that this one stands for. */
  readonly own: readonly string[];
  readonly count: number;
  readonly seconds: number;
  readonly mean: number;
  readonly cpu: number;
  readonly share: number;
  readonly change: number;
  readonly noise: number;
  readonly cpuChange: number;
  readonly cpuNoise: number;
  readonly impact: number;
  readonly verdict: string;
}

/** A finding of a side or of the baseline. */
export interface SideFinding {
  readonly side: number;
  readonly state: string;
  readonly code: string;
  readonly severity: Severity;
  readonly title: string;
  readonly tasks: readonly string[];
  readonly costBefore: number;
  readonly costAfter: number;
  readonly runsBefore: number;
  readonly runsAfter: number;
}

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
export const COMPARED = [
  'compared_sides',
  'compared_runs',
  'compared_budget',
  'compared_names',
  'compared_memory',
  'compared_stacks',
  'compared_findings',
  'compared_settings'
] as const satisfies readonly TableName[];

/** True where a recording holds a comparison and no run of its own. */
export function isComparisonOnly(recording: Recording): boolean {
  return recording.table('compared_sides').rows > 0 && recording.table('attempts').rows === 0;
}

export function comparisonOf(recording: Recording): Comparison | undefined {
  const sides = sidesOf(recording);
  if (sides.length === 0) return undefined;
  return {
    sides,
    runs: runsOf(recording),
    budget: budgetOf(recording),
    names: namesOf(recording),
    findings: findingsOf(recording),
    settings: settingsOf(recording, sides.length),
    memory: memoryOf(recording),
    stacks: stacksOf(recording, sides.length)
  };
}

function each<T extends TableName, R>(table: Table<T>, read: (row: number) => R): R[] {
  return Array.from({ length: table.rows }, (_, row) => read(row));
}

function sidesOf(recording: Recording): Side[] {
  const table = recording.table('compared_sides');
  const of = (column: Parameters<typeof table.numbers>[0]) => table.numbers(column);
  return each(table, row => ({
    side: of('side')[row],
    name: table.text('name', row),
    runs: of('runs')[row],
    workers: of('workers')[row],
    threads: of('threads')[row],
    seconds: of('seconds')[row],
    change: of('change')[row],
    noise: of('noise')[row],
    tasks: of('tasks')[row],
    memory: of('memory')[row],
    verdict: table.text('verdict', row),
    text: table.text('text', row)
  })).sort((a, b) => a.side - b.side);
}

function runsOf(recording: Recording): SideRun[] {
  const table = recording.table('compared_runs');
  return each(table, row => ({
    side: table.numbers('side')[row],
    run: table.numbers('run')[row],
    name: table.text('name', row),
    seconds: table.numbers('seconds')[row]
  }));
}

function budgetOf(recording: Recording): SidePart[] {
  const table = recording.table('compared_budget');
  return each(table, row => ({
    side: table.numbers('side')[row],
    kind: table.text('kind', row),
    part: table.text('part', row),
    seconds: table.numbers('seconds')[row],
    share: table.numbers('share')[row],
    wall: table.numbers('wall')[row],
    change: table.numbers('change')[row],
    noise: table.numbers('noise')[row],
    verdict: table.text('verdict', row)
  }));
}

function namesOf(recording: Recording): SideName[] {
  const table = recording.table('compared_names');
  return each(table, row => ({
    side: table.numbers('side')[row],
    name: table.text('name', row),
    own: texts(table.text('names', row)),
    count: table.numbers('count')[row],
    seconds: table.numbers('seconds')[row],
    mean: table.numbers('mean')[row],
    cpu: table.numbers('cpu')[row],
    share: table.numbers('share')[row],
    change: table.numbers('change')[row],
    noise: table.numbers('noise')[row],
    cpuChange: table.numbers('cpu_change')[row],
    cpuNoise: table.numbers('cpu_noise')[row],
    impact: table.numbers('impact')[row],
    verdict: table.text('verdict', row)
  }));
}

function findingsOf(recording: Recording): SideFinding[] {
  const table = recording.table('compared_findings');
  return each(table, row => ({
    side: table.numbers('side')[row],
    state: table.text('state', row),
    code: table.text('code', row),
    severity: table.text('severity', row) as Severity,
    title: table.text('title', row),
    tasks: texts(table.text('tasks', row)),
    costBefore: table.numbers('cost_before')[row],
    costAfter: table.numbers('cost_after')[row],
    runsBefore: table.numbers('runs_before')[row],
    runsAfter: table.numbers('runs_after')[row]
  }));
}

function settingsOf(recording: Recording, sides: number): Setting[] {
  const table = recording.table('compared_settings');
  const found = new Map<string, { kind: string; name: string; values: string[] }>();
  for (let row = 0; row < table.rows; row++) {
    const [kind, name] = [table.text('kind', row), table.text('name', row)];
    const key = `${kind}\n${name}`;
    let setting = found.get(key);
    if (!setting) {
      setting = { kind, name, values: new Array<string>(sides).fill('') };
      found.set(key, setting);
    }
    const side = table.numbers('side')[row];
    if (side < sides) setting.values[side] = table.text('value', row);
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
