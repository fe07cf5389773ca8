import { append } from './append';
import { submissionRows } from './caller-of';
import { duration } from './format';
import { madeFrom } from './made-from';
import type { Recording } from './recording';
import { NOTHING } from './schema';

/** A span of the recording, with those inside it. */
export interface Span {
  readonly id: string;
  /** Names from the outermost on, joined as Dask's users see them. */
  readonly path: string;
  /** 0 at the top. */
  readonly depth: number;
  /** Its own id first, then those of all spans inside it. */
  readonly within: readonly string[];
}

/** All spans, each before those inside it; a later row of `spans` replaces an earlier one. */
export const spansOf = madeFrom(['spans'], (recording): readonly Span[] => {
  const rows = recording.table('spans').newest('span');
  const inside = new Map<string, string[]>();
  for (const [id, { parent }] of rows) {
    append(inside, rows.has(parent) && parent !== id ? parent : '', id);
  }
  const spans: Span[] = [];
  const seen = new Set<string>();
  const walk = (id: string, depth: number): string[] => {
    const row = rows.get(id);
    if (!row || seen.has(id)) return [];
    seen.add(id);
    const within = [id];
    spans.push({ id, path: row.path || row.name, depth, within });
    for (const child of inside.get(id) ?? []) {
      for (const each of walk(child, depth + 1)) within.push(each);
    }
    return within;
  };
  for (const id of inside.get('') ?? []) walk(id, 0);
  return spans;
});

/** Spans that a person thinks of as one. */
export interface ListedSpan extends Span {
  /** Of each time that it was entered, its own id and those of all spans inside it. */
  readonly entries: readonly (readonly string[])[];
}

/** What Dask calls the span of a computation that stands in none of the person's own. */
const DEFAULT = 'default';

/**
 * Spans as a person thinks of them: those that were entered several times
 * under one name are one. What ran in none of the person's own comes last, a
 * computation each.
 */
export const listedSpans = madeFrom(
  ['spans', 'graph', 'submissions', 'about'],
  (recording): readonly ListedSpan[] => {
    const byPath = new Map<string, Span[]>();
    const unnamed: Span[] = [];
    for (const span of spansOf(recording)) {
      if (span.path === DEFAULT) unnamed.push(span);
      else append(byPath, span.path, span);
    }
    return [...byPath.values(), ...computations(recording, unnamed).map(span => [span])].map(spans => {
      const entries = spans.map(({ within }) => within);
      return { ...spans[0], within: [...new Set(entries.flat())], entries };
    });
  }
);

/** Spans that nobody has named, by where the computation began: its cell, its function, or its time. */
function computations(recording: Recording, spans: readonly Span[]): Span[] {
  const submitted = submissionsOf(recording, new Set(spans.map(({ id }) => id)));
  const table = recording.table('submissions');
  const rows = submissionRows(recording);
  return spans.map(span => {
    const row = rows.get(submitted.get(span.id) ?? NOTHING);
    if (row < 0) return { ...span, path: 'no span' };
    const execution = table.numbers('execution')[row];
    const place = execution > 0 ? `cell [${execution}]` : table.text('function', row);
    const when = `at ${duration(table.times('time')[row] - recording.origin)}`;
    return { ...span, path: ['no span', place, when].filter(Boolean).join(', ') };
  });
}

/** The submission that brought the first task of each span. */
function submissionsOf(recording: Recording, spans: ReadonlySet<string>): ReadonlyMap<string, number> {
  const graph = recording.table('graph');
  const { codes, names } = graph.symbols('span');
  const submissions = graph.numbers('submission');
  const wanted = new Set(names.flatMap((name, code) => (spans.has(name) ? code : [])));
  const found = new Map<string, number>();
  for (let row = 0; row < graph.rows && wanted.size > 0; row++) {
    if (wanted.delete(codes[row])) found.set(names[codes[row]], submissions[row]);
  }
  return found;
}

/** What people call a span, by its id. */
export function spanName(recording: Recording, id: string): string {
  return spansOf(recording).find(span => span.id === id)?.path || id;
}
