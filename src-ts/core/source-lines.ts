import type { Recording } from './recording';

/** The lines of source code that a recording holds. */
export interface SourceLines {
  /** The text of a line, without the space at its ends; '' if the recording does not have it. */
  text(file: string, line: number): string;
}

interface Known {
  state: string;
  rows: number;
  generation: number;
  readonly files: Map<string, Map<number, string>>;
}

const known = new WeakMap<Recording, Known>();

/** Kept up to date: ask again after rows have come. */
export function sourceLines(recording: Recording): SourceLines {
  const state = recording.state('lines');
  let found = known.get(recording);
  if (!found || found.generation !== recording.generation) {
    found = { state: '', rows: 0, generation: recording.generation, files: new Map() };
    known.set(recording, found);
  }
  if (found.state !== state) {
    found.state = state;
    read(recording, found);
  }
  const { files } = found;
  return { text: (file, line) => files.get(file)?.get(line) ?? '' };
}

function read(recording: Recording, found: Known): void {
  const table = recording.table('lines');
  const { codes, names } = table.symbols('file');
  const numbers = table.numbers('line');
  for (; found.rows < table.rows; found.rows++) {
    const file = names[codes[found.rows]];
    let lines = found.files.get(file);
    if (!lines) {
      lines = new Map();
      found.files.set(file, lines);
    }
    lines.set(numbers[found.rows], table.text('text', found.rows));
  }
}
