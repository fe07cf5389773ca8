import { packageOf, STANDARD_LIBRARY } from './package-of';
import type { Recording } from './recording';

/** A place in code where a call was. */
export interface Call {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

/** Where a run was at one moment; the innermost call first. */
export interface CallStack {
  readonly time: number;
  readonly calls: readonly Call[];
}

/** The innermost calls that are told. */
const MOST_CALLS = 12;
const PLUMBING = ['dask', 'distributed', STANDARD_LIBRARY];

/** Where a run was seen last, without what Dask called on the way to its code; undefined if it never was. */
export function callStackOf(recording: Recording, run: number): CallStack | undefined {
  const samples = recording.table('samples');
  const stacks = recording.table('stacks');
  const [ids, parents, lines] = (['stack', 'parent', 'line'] as const).map(name => stacks.numbers(name));
  const sample = samples.numbers('run').lastIndexOf(run);
  const calls: Call[] = [];
  let row = ids.lastIndexOf(samples.numbers('stack')[sample]);
  while (row >= 0 && calls.length < MOST_CALLS) {
    calls.push({ name: stacks.text('function', row), file: stacks.text('file', row), line: lines[row] });
    // Callers stand before what they call.
    row = ids.lastIndexOf(parents[row], row);
  }
  while (calls.length > 1 && PLUMBING.includes(packageOf(calls[calls.length - 1].file))) calls.pop();
  return calls.length > 0 ? { time: samples.times('time')[sample], calls } : undefined;
}
