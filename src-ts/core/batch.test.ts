import { encode } from '@msgpack/msgpack';
import { describe, expect, test } from 'vitest';
import { BatchError, decode, decodeAll } from './batch';

/** Byte planes of numbers, as the writer makes them. */
function planes(array: Uint32Array | Float64Array | Uint16Array): Uint8Array {
  const raw = new Uint8Array(array.buffer);
  const width = array.BYTES_PER_ELEMENT;
  return Uint8Array.from(raw, (_, at) => raw[(at % array.length) * width + Math.floor(at / array.length)]);
}

const zigzag = (steps: readonly number[]): Uint8Array =>
  planes(Uint32Array.from(steps, step => (step >= 0 ? 2 * step : -2 * step - 1)));

function batch(columns: readonly object[], rows: number, table = 'attempts'): Uint8Array {
  return encode({ table, rows, columns });
}

describe('decode', () => {
  test('numbers of every kind', () => {
    const bytes = batch(
      [
        { name: 'run', kind: 'u32', data: zigzag([5, -3, 4_000_000_000 - 2 ** 32]) },
        { name: 'queued', kind: 'u8', data: Uint8Array.of(0, 1, 255) },
        { name: 'nbytes', kind: 'f64', data: planes(Float64Array.of(1.5, Number.NaN, -1e300)) }
      ],
      3
    );
    const { columns, rows } = decode(bytes);
    const read = (name: string) => columns.get(name)?.read();
    expect(rows).toBe(3);
    expect(read('run')).toEqual({ kind: 'u32', values: Uint32Array.of(5, 2, 4_000_000_002) });
    expect(read('queued')).toEqual({ kind: 'u8', values: Uint8Array.of(0, 1, 255) });
    expect(read('nbytes')).toEqual({ kind: 'f64', values: Float64Array.of(1.5, Number.NaN, -1e300) });
  });

  test('times: carried over gaps, relative to another column, in coarser units, wide', () => {
    const base = 1_750_000_000_000_000;
    const missing = planes(Uint32Array.of(0, 0xffff_ffff, 6));
    const bytes = batch(
      [
        { name: 'done', kind: 'time', base, data: missing },
        { name: 'stop', kind: 'time', base: base + 7, since: 'done', data: zigzag([-1, 0, -2]) },
        { name: 'start', kind: 'time', base, unit: 100, since: 'stop', data: zigzag([-1, -2, -3]) },
        {
          name: 'assigned',
          kind: 'time',
          base,
          wide: true,
          data: planes(Float64Array.of(5e12, Number.NaN, -1))
        }
      ],
      3
    );
    const micros = (name: string): number[] => {
      const values = decode(bytes).columns.get(name)?.read();
      return values?.kind === 'time' ? Array.from(values.values, time => Math.round(time * 1e6) - base) : [];
    };
    expect(micros('done')).toEqual([0, Number.NaN, 3]);
    expect(micros('stop')).toEqual([-1, 7, 1]);
    expect(micros('start')).toEqual([-101, -193, -299]);
    expect(micros('assigned')).toEqual([5e12, Number.NaN, 5e12 - 1]);
  });

  test('times of a batch that comes later count from columns that are there', () => {
    const base = 1_750_000_000_000_000;
    const done = {
      name: 'done',
      kind: 'time',
      base: base + 3,
      unit: 100,
      since: 'stop',
      data: zigzag([2, -1])
    };
    const column = decode(encode({ table: 'attempts', rows: 2, from: 5, columns: [done] })).columns.get(
      'done'
    );
    const stops = Float64Array.of((base + 7) / 1e6, Number.NaN, 1);
    const values = column?.read(name => (name === 'stop' ? stops : undefined));
    expect(
      values?.kind === 'time' && Array.from(values.values, time => Math.round(time * 1e6) - base)
    ).toEqual([207, -97]);
    expect(() => column?.read()).toThrow(BatchError);
    expect(() => column?.read(() => stops.subarray(2))).toThrow(BatchError);
  });

  test('planes in which nothing stands may be left out', () => {
    const steps = [3, -200, 70_000];
    for (const kept of [1, 2, 3, 4]) {
      const given = steps.slice(0, Math.min(3, kept));
      const data = zigzag(given).subarray(0, kept * given.length);
      const bytes = batch(
        [
          { name: 'run', kind: 'u32', planes: kept, data },
          { name: 'stop', kind: 'time', base: 10, planes: kept, data }
        ],
        given.length
      );
      const { columns } = decode(bytes);
      const sums = given.map((_, at) => given.slice(0, at + 1).reduce((a, b) => a + b, 0));
      expect(columns.get('run')?.read()).toEqual({ kind: 'u32', values: Uint32Array.from(sums) });
      const stop = columns.get('stop')?.read();
      expect(stop?.kind === 'time' && Array.from(stop.values, time => Math.round(time * 1e6))).toEqual(
        sums.map(sum => 10 + sum)
      );
    }
  });

  test('few different floats stand once', () => {
    const few = new Uint8Array(Float64Array.of(1.5, Number.NaN).buffer);
    const nbytes = { name: 'nbytes', kind: 'f64', few, data: Uint8Array.of(0, 1, 0) };
    const read = (column: object): unknown =>
      decode(batch([column], 3))
        .columns.get('nbytes')
        ?.read();
    expect(read(nbytes)).toEqual({ kind: 'f64', values: Float64Array.of(1.5, Number.NaN, 1.5) });
    for (const wrong of [{ few: few.slice(1) }, { few: 3 }, { data: Uint8Array.of(0, 2, 0) }, { data: few }])
      expect(() => read({ ...nbytes, ...wrong })).toThrow(BatchError);
  });

  test('repeated and unique text, of any script', () => {
    const texts = ['', '</script>', 'שלום 🙂'].map(text => new TextEncoder().encode(text));
    const lengths = planes(Uint32Array.from(texts, text => text.length));
    const data = Uint8Array.from([...lengths, ...texts.flatMap(text => [...text])]);
    const bytes = batch(
      [
        {
          name: 'status',
          kind: 'sym',
          width: 2,
          data: planes(Uint16Array.of(1, 0, 1)),
          symbols: ['ok', 'erred']
        },
        { name: 'key', kind: 'str', data }
      ],
      3
    );
    const { columns } = decode(bytes);
    expect(columns.get('status')?.read()).toMatchObject({
      codes: Uint16Array.of(1, 0, 1),
      names: ['ok', 'erred']
    });
    const key = columns.get('key')?.read();
    expect(key?.kind === 'str' && [0, 1, 2].map(row => key.text(row))).toEqual(['', '</script>', 'שלום 🙂']);
  });

  test('columns of an unknown kind are left out', () => {
    const { columns } = decode(batch([{ name: 'run', kind: 'i128', data: new Uint8Array(16) }], 1));
    expect(columns.size).toBe(0);
  });

  test.each([
    ['no map', encode(42)],
    ['no rows', encode({ table: 'attempts', columns: [] })],
    ['torn msgpack', batch([], 1).subarray(0, 9)],
    ['rows without a column', batch([], 1)],
    ['rows beyond all bytes', batch([{ name: 'a', kind: 'i128', data: new Uint8Array(16) }], 17)],
    ['too few bytes', batch([{ name: 'run', kind: 'u32', data: new Uint8Array(7) }], 2)],
    ['too few planes', batch([{ name: 'run', kind: 'u32', planes: 2, data: new Uint8Array(6) }], 2)],
    ['planes of no number', batch([{ name: 'run', kind: 'u32', planes: 5, data: new Uint8Array(10) }], 2)],
    [
      'a code without a symbol',
      batch([{ name: 's', kind: 'sym', width: 1, data: Uint8Array.of(3), symbols: ['a'] }], 1)
    ],
    ['texts that do not fill', batch([{ name: 'key', kind: 'str', data: Uint8Array.of(9, 0, 0, 0, 65) }], 1)],
    [
      'a reference to nothing',
      batch([{ name: 'a', kind: 'time', base: 0, since: 'b', data: zigzag([1]) }], 1)
    ]
  ])('%s is refused', (_, bytes) => {
    expect(() => {
      for (const column of decode(bytes).columns.values()) column.read();
    }).toThrow(BatchError);
  });

  test('batches one after another, up to where they cease', () => {
    const one = batch([], 0, 'graph');
    const bytes = Uint8Array.from([...one, ...one, 0xc1]);
    const seen: string[] = [];
    expect(() => {
      for (const { table } of decodeAll(bytes)) seen.push(table);
    }).toThrow(BatchError);
    expect(seen).toEqual(['graph', 'graph']);
  });

  test('with bytes of their own, columns hold when the message is used for something else', () => {
    const micros = { base: 0, data: zigzag([5, 1]) };
    const bytes = batch(
      [
        { name: 'done', kind: 'time', ...micros },
        { name: 'stop', kind: 'time', base: 7, since: 'done', data: zigzag([-1, 0]) }
      ],
      2
    );
    const [own] = [...decodeAll(bytes, { copy: true })];
    const expected = decode(bytes.slice());
    bytes.fill(0);
    for (const name of ['stop', 'done']) {
      expect(own.columns.get(name)?.read()).toEqual(expected.columns.get(name)?.read());
    }
  });
});
