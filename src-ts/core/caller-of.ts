import { IdIndex } from './columns';
import { madeFrom } from './made-from';
import type { Recording } from './recording';

/** The line of a person's code that handed a graph to a scheduler. */
export interface Caller {
  readonly file: string;
  readonly line: number;
}

/** The row of each submission, by its id. */
export const submissionRows = madeFrom(['submissions'], recording => {
  const rows = new IdIndex();
  const ids = recording.table('submissions').numbers('submission');
  rows.setAll(ids, 0, ids.length);
  return rows;
});

/** Where a submission was made; undefined if that is not known. */
export function callerOf(recording: Recording, submission: number): Caller | undefined {
  const table = recording.table('submissions');
  const row = submissionRows(recording).get(submission);
  const file = table.text('file', row);
  return file ? { file, line: table.numbers('line')[row] } : undefined;
}
