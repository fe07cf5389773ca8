import { IdIndex } from './columns';
import type { Recording } from './recording';
import { sourceLines } from './source-lines';

/** The line of a person's code that handed a graph to a scheduler. */
export interface Caller {
  readonly file: string;
  readonly line: number;
  readonly function: string;
  /** The line itself; '' if the recording does not have it. */
  readonly text: string;
}

interface Known {
  state: string;
  rows: IdIndex;
}

const known = new WeakMap<Recording, Known>();

/** Where a submission was made; undefined if that is not known. */
export function callerOf(recording: Recording, submission: number): Caller | undefined {
  const table = recording.table('submissions');
  const state = recording.state('submissions');
  let found = known.get(recording);
  if (found?.state !== state) {
    found = { state, rows: new IdIndex() };
    table.numbers('submission').forEach((id, row) => {
      found?.rows.set(id, row);
    });
    known.set(recording, found);
  }
  const row = found.rows.get(submission);
  if (row < 0) return undefined;
  const file = table.text('file', row);
  const line = table.numbers('line')[row];
  if (file === '') return undefined;
  return { file, line, function: table.text('function', row), text: sourceLines(recording).text(file, line) };
}
