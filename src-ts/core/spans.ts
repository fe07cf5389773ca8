import type { Recording } from './recording';

/** A span of the recording, with those inside it. */
export interface Span {
  readonly id: string;
  readonly name: string;
  /** Names from the outermost on, joined as Dask's users see them. */
  readonly path: string;
  /** 0 at the top. */
  readonly depth: number;
  /** Its own id first, then those of all spans inside it. */
  readonly within: readonly string[];
}

/** All spans, each before those inside it; a later row of `spans` replaces an earlier one. */
export function spansOf(recording: Recording): Span[] {
  const table = recording.table('spans');
  const rows = new Map<string, number>();
  for (let row = 0; row < table.rows; row++) rows.set(table.text('span', row), row);
  const inside = new Map<string, string[]>();
  for (const [id, row] of rows) {
    const parent = table.text('parent', row);
    const place = rows.has(parent) && parent !== id ? parent : '';
    inside.set(place, [...(inside.get(place) ?? []), id]);
  }
  const spans: Span[] = [];
  const seen = new Set<string>();
  const walk = (id: string, depth: number): string[] => {
    if (seen.has(id)) return [];
    seen.add(id);
    const row = rows.get(id) as number;
    const name = table.text('name', row);
    const within = [id];
    const span = { id, name, path: table.text('path', row) || name, depth, within };
    spans.push(span);
    for (const child of inside.get(id) ?? []) within.push(...walk(child, depth + 1));
    return within;
  };
  for (const id of inside.get('') ?? []) walk(id, 0);
  return spans;
}

/** What Dask calls the span of a computation that stands in none of the person's own. */
const DEFAULT = 'default';

/**
 * Spans as a person thinks of them: those that were entered several times
 * under one name are one. Empty if the person named none.
 */
export function namedSpans(recording: Recording): Span[] {
  const byPath = new Map<string, Span>();
  for (const span of spansOf(recording)) {
    const known = byPath.get(span.path);
    const within = known ? [...known.within, ...span.within] : span.within;
    byPath.set(span.path, { ...(known ?? span), within: [...new Set(within)] });
  }
  const spans = [...byPath.values()];
  return spans.every(({ path }) => path === DEFAULT) ? [] : spans;
}

/** What people call a span, by its id. */
export function spanName(recording: Recording, id: string): string {
  const table = recording.table('spans');
  for (let row = table.rows - 1; row >= 0; row--) {
    if (table.text('span', row) === id) return table.text('path', row) || table.text('name', row) || id;
  }
  return id;
}
