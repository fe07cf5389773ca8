/** Undoes the text form of bytes that `dask_insight/ascii91.py` makes and describes. */

const SIGNS = Array.from({ length: 95 }, (_, index) => index + 32).filter(
  code => !'"&\'<'.includes(String.fromCharCode(code))
);

const NONE = 0xffff;

/** The value of two signs, by both as they stand in memory; little-endian, as all machines with a browser are. */
let known: Uint16Array | undefined;

function pairValues(): Uint16Array {
  const values = new Uint16Array(0x10000).fill(NONE);
  for (let value = 0; value < 8192; value++) {
    const high = Math.floor(value / 91);
    values[SIGNS[value - 91 * high] | (SIGNS[high] << 8)] = value;
  }
  return values;
}

/** The bytes that a text stands for. Throws if it is no such text. */
export function fromAscii91(text: string): Uint8Array<ArrayBuffer> {
  known ??= pairValues();
  const values = known;
  const rest = text.length % 16;
  const bits = 13 * (rest >> 1) + (rest & 1 ? 6 : 0);
  const groups = (text.length - rest) / 16;
  const bytes = new Uint8Array(13 * groups + (bits >> 3));
  const codes = new TextEncoder().encode(text);
  const pairs = new Uint16Array(codes.buffer, 0, codes.length >> 1);
  let wrong = codes.length !== text.length || rest === 1 || rest === 6 || rest === 11 ? NONE : 0;
  for (let from = 0, to = 0; from < 8 * groups; from += 8, to += 13) {
    const a = values[pairs[from]];
    const b = values[pairs[from + 1]];
    const c = values[pairs[from + 2]];
    const d = values[pairs[from + 3]];
    const e = values[pairs[from + 4]];
    const f = values[pairs[from + 5]];
    const g = values[pairs[from + 6]];
    const h = values[pairs[from + 7]];
    wrong |= a | b | c | d | e | f | g | h;
    bytes[to] = a;
    bytes[to + 1] = (a >> 8) | (b << 5);
    bytes[to + 2] = b >> 3;
    bytes[to + 3] = (b >> 11) | (c << 2);
    bytes[to + 4] = (c >> 6) | (d << 7);
    bytes[to + 5] = d >> 1;
    bytes[to + 6] = (d >> 9) | (e << 4);
    bytes[to + 7] = e >> 4;
    bytes[to + 8] = (e >> 12) | (f << 1);
    bytes[to + 9] = (f >> 7) | (g << 6);
    bytes[to + 10] = g >> 2;
    bytes[to + 11] = (g >> 10) | (h << 3);
    bytes[to + 12] = h >> 5;
  }
  let kept = 0;
  let width = 0;
  let to = 13 * groups;
  for (let from = 16 * groups; from < codes.length; from += 2) {
    const last = from + 1 === codes.length;
    const value = last ? SIGNS.indexOf(codes[from]) : values[pairs[from >> 1]];
    wrong |= last && (value < 0 || value > 63) ? NONE : value;
    kept |= value << width;
    width += last ? 6 : 13;
    for (; width >= 8; width -= 8, kept >>>= 8) bytes[to++] = kept;
  }
  if (wrong > 8191 || kept !== 0) throw new Error('the text is damaged');
  return bytes;
}
