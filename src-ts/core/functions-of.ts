import { madeFrom } from './made-from';
import { shortFile } from './package-of';
import type { Recording } from './recording';
import type { RowOf } from './schema';

/** The most telling function of each task name: the first that came. */
const byName = madeFrom(
  ['functions'],
  recording =>
    new Map(
      recording
        .table('functions')
        .all()
        .reverse()
        .map(row => [row.prefix, row])
    )
);

/** The function that the tasks of a name run, or the most telling of several; undefined if none is known. */
export function functionOf(recording: Recording, name: string): RowOf<'functions'> | undefined {
  return byName(recording).get(name);
}

/** `folder/file.py:12`; '' if it is not known. */
export function placeWords({ file, line }: Pick<RowOf<'functions'>, 'file' | 'line'>): string {
  if (file === '') return '';
  return line > 0 ? `${shortFile(file)}:${line}` : shortFile(file);
}
