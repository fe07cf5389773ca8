import { madeFrom } from './made-from';
import { shortFile } from './package-of';
import type { Recording } from './recording';

/** A function that the tasks of a name run. */
export interface FunctionPlace {
  /** Its qualified name. */
  readonly name: string;
  readonly module: string;
  /** '' if unknown. */
  readonly file: string;
  /** 0 if unknown. */
  readonly line: number;
  /** True if it was only seen at work, so that it may not be all of it. */
  readonly sampled: boolean;
}

const byName = madeFrom(['functions'], read);

/** The functions of a task name; the most telling first, none if they are not known. */
export function functionsOf(recording: Recording, name: string): readonly FunctionPlace[] {
  return byName(recording).get(name) ?? [];
}

/** The most telling one of them. */
export function functionOf(recording: Recording, name: string): FunctionPlace | undefined {
  return functionsOf(recording, name)[0];
}

/** `folder/file.py:12`; '' if it is not known. */
export function placeWords({ file, line }: Pick<FunctionPlace, 'file' | 'line'>): string {
  if (file === '') return '';
  return line > 0 ? `${shortFile(file)}:${line}` : shortFile(file);
}

function read(recording: Recording): Map<string, FunctionPlace[]> {
  const table = recording.table('functions');
  const lines = table.numbers('line');
  const found = new Map<string, FunctionPlace[]>();
  const seen = new Set<string>();
  for (let row = 0; row < table.rows; row++) {
    const prefix = table.text('prefix', row);
    const place = {
      name: table.text('function', row),
      module: table.text('module', row),
      file: table.text('file', row),
      line: lines[row],
      sampled: table.text('source', row) === 'sampled'
    };
    // Several schedulers may tell the same.
    const key = [prefix, place.name, place.module, place.file, place.line].join('\n');
    if (seen.has(key)) continue;
    seen.add(key);
    const places = found.get(prefix);
    if (places) places.push(place);
    else found.set(prefix, [place]);
  }
  return found;
}
