import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Recording } from './recording';
import { type Kind, TABLES, type TableName } from './schema';
import { Tasks } from './tasks';
import { takeAll } from './test-bytes';

/** What Python wrote, and what it found in it: both languages must read the same. */
interface Digest {
  readonly rows: number;
  readonly first: number | string | null;
  readonly last: number | string | null;
  readonly missing?: number;
  readonly mean?: number | null;
  readonly distinct?: number;
  readonly bytes?: number;
}

const folder = new URL('../../tests/golden/', import.meta.url);
const expected: {
  readonly tables: Readonly<
    Record<string, { readonly rows: number; readonly columns: Record<string, Digest> }>
  >;
} = JSON.parse(readFileSync(new URL('expected.json', folder), 'utf-8'));
const recording = new Recording();
takeAll(recording, new Uint8Array(readFileSync(new URL('run.batches', folder))));

function digest(table: TableName, column: string, kind: Kind): Digest {
  const found = recording.table(table);
  if (kind === 'sym' || kind === 'str') {
    const texts = Array.from({ length: found.rows }, (_, row) => found.text(column as never, row));
    return {
      rows: texts.length,
      first: texts[0] ?? null,
      last: texts[texts.length - 1] ?? null,
      distinct: new Set(texts).size,
      bytes: texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0)
    };
  }
  const values = kind === 'time' ? found.times(column as never) : found.numbers(column as never);
  const finite = Array.from(values).filter(Number.isFinite);
  return {
    rows: values.length,
    missing: values.length - finite.length,
    first: finite[0] ?? null,
    last: finite[finite.length - 1] ?? null,
    mean: finite.length > 0 ? finite.reduce((sum, value) => sum + value, 0) / finite.length : null
  };
}

const kinds: Readonly<Record<string, Readonly<Record<string, Kind>> | undefined>> = TABLES;

describe('the golden recording', () => {
  // What no page reads the twin of the schema leaves out.
  const columns = Object.entries(expected.tables).flatMap(([table, { columns }]) =>
    Object.entries(columns).flatMap(([column, wanted]) => {
      const kind = kinds[table]?.[column];
      return kind ? [[table as TableName, column, wanted, kind] as const] : [];
    })
  );

  test.each(columns)('%s.%s', (table, column, wanted, kind) => {
    const { mean, ...found } = digest(table, column, kind);
    const { mean: wantedMean, ...rest } = wanted;
    expect(found).toEqual(rest);
    expect(mean ?? 0).toBeCloseTo(wantedMean ?? 0, 4);
  });

  test('every attempt that ran has its place in a lane', () => {
    const tasks = new Tasks(recording);
    const entries = tasks.lanes.reduce((sum, lane) => sum + lane.length, 0);
    const never = [...tasks.unplaced.values()].reduce((sum, count) => sum + count, 0);
    expect(entries).toBe(tasks.count);
    expect(entries + never).toBeGreaterThanOrEqual(recording.table('attempts').rows);
    expect(tasks.names).toContain('spin');
  });
});
