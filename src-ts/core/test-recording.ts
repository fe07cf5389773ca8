import type { Batch, PackedColumn, Values } from './batch';
import { Recording } from './recording';
import { type Kind, TABLES, type TableName } from './schema';

export type Row = Readonly<Record<string, number | string>>;

/** A batch from rows, for tests. A column that no row has is left out. */
export function batchOf(table: TableName, rows: readonly Row[]): Batch {
  const kinds: Readonly<Record<string, Kind>> = TABLES[table];
  const columns = new Map<string, PackedColumn>();
  for (const [name, kind] of Object.entries(kinds)) {
    if (!rows.some(row => row[name] !== undefined)) continue;
    const values = valuesOf(kind, rows, name);
    columns.set(name, { kind, size: 0, read: () => values });
  }
  return { table, rows: rows.length, columns };
}

function valuesOf(kind: Kind, rows: readonly Row[], name: string): Values {
  if (kind === 'sym') {
    const texts = rows.map(row => String(row[name] ?? ''));
    const names = [...new Set(texts)];
    const codes = new Map(names.map((name, code) => [name, code]));
    return { kind, codes: Uint32Array.from(texts, text => codes.get(text) as number), names };
  }
  if (kind === 'str') {
    return { kind, length: rows.length, text: row => String(rows[row][name] ?? '') };
  }
  const numbers = rows.map(row => Number(row[name] ?? (kind === 'u32' || kind === 'u8' ? 0 : Number.NaN)));
  if (kind === 'u32') return { kind, values: Uint32Array.from(numbers) };
  if (kind === 'u8') return { kind, values: Uint8Array.from(numbers) };
  if (kind === 'f32') return { kind, values: Float32Array.from(numbers) };
  return { kind, values: Float64Array.from(numbers) };
}

/** A recording of these tables, for tests. */
export function recordingOf(tables: { readonly [T in TableName]?: readonly Row[] }): Recording {
  const recording = new Recording();
  for (const [table, rows] of Object.entries(tables)) recording.take(batchOf(table as TableName, rows));
  return recording;
}
