import { encode } from '@msgpack/msgpack';
import { decodeAll } from './batch';
import type { Recording } from './recording';
import { type Kind, TABLES, type TableName } from './schema';
import type { Row } from './test-recording';

/** A batch as it arrives, for tests. A column that no row has is left out. */
export function bytesOf(table: TableName, rows: readonly Row[]): Uint8Array {
  const kinds: Readonly<Record<string, Kind>> = TABLES[table];
  const columns = Object.entries(kinds)
    .filter(([name]) => rows.some(row => row[name] !== undefined))
    .map(([name, kind]) => ({ name, kind, ...packed(kind, rows, name) }));
  return encode({ table, rows: rows.length, columns });
}

/** Puts batches that stand one after another into a recording. */
export function takeAll(recording: Recording, bytes: Uint8Array): void {
  for (const batch of decodeAll(bytes)) recording.take(batch);
}

/** Several, one after another. */
export function joined(...batches: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(batches.flatMap(batch => [...batch]));
}

function packed(kind: Kind, rows: readonly Row[], name: string): object {
  const numbers = (): number[] => rows.map(row => Number(row[name] ?? Number.NaN));
  switch (kind) {
    case 'sym': {
      const texts = rows.map(row => String(row[name] ?? ''));
      const symbols = [...new Set(texts)];
      const codes = Uint32Array.from(texts, text => symbols.indexOf(text));
      return { symbols, width: 4, data: planes(codes) };
    }
    case 'str': {
      const texts = rows.map(row => new TextEncoder().encode(String(row[name] ?? '')));
      const lengths = planes(Uint32Array.from(texts, text => text.length));
      return { data: joined(lengths, ...texts) };
    }
    case 'u8':
      return { data: Uint8Array.from(numbers()) };
    case 'u32':
      return { data: zigzag(steps(numbers(), 0)) };
    case 'f32':
      return { data: planes(Float32Array.from(numbers())) };
    case 'f64':
      return { data: planes(Float64Array.from(numbers())) };
    case 'time':
      return {
        base: 0,
        wide: true,
        data: planes(Float64Array.from(steps(numbers().map(time => Math.round(time * 1e6)))))
      };
  }
}

/** Differences to the number before; a missing one is missing, or stands as `missing`. */
function steps(values: readonly number[], missing = Number.NaN): number[] {
  let last = 0;
  return values.map(value => {
    const known = Number.isNaN(value) ? missing : value;
    if (Number.isNaN(known)) return known;
    const step = known - last;
    last = known;
    return step;
  });
}

function zigzag(values: readonly number[]): Uint8Array {
  return planes(
    Uint32Array.from(values, value => {
      const step = value | 0;
      return (step << 1) ^ (step >> 31);
    })
  );
}

/** All first bytes, then all second bytes, … */
function planes(array: Uint32Array | Float32Array | Float64Array): Uint8Array {
  const raw = new Uint8Array(array.buffer);
  const width = array.BYTES_PER_ELEMENT;
  return Uint8Array.from(raw, (_, at) => raw[(at % array.length) * width + Math.floor(at / array.length)]);
}
