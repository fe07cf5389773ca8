export const MIME = 'application/vnd.dask-insight.v1+json';

/** What a saved report says in words; `dask_insight/hosts/notebook/bundle.py` writes it. */
export interface Summary {
  readonly name: string;
  readonly verdict: string;
  /** Where the time went: name, thread time, share. */
  readonly table: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

/** Reads a notebook's JSON, of which nothing is believed; what is not as it should be is left out. */
export function summaryOf(data: unknown): Summary {
  const given = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  return {
    name: text(given.name),
    verdict: text(given.verdict),
    table: list(given.table)
      .slice(0, 50)
      .map(row => list(row).slice(0, 3).map(text)),
    notes: list(given.notes).slice(0, 50).map(text)
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
