/** Reads MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md), as far as batches use it. */

/** No batch is nested deeper. */
const DEEPEST = 16;

const DECODER = new TextDecoder();

/** Values that stand one after another. Bytes within them are views. */
export class Unpacker {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get ended(): boolean {
    return this.at === this.bytes.length;
  }

  /** The next value: numbers, text, bytes, lists, maps with text as keys. Throws where the bytes are none. */
  next(depth = 0): unknown {
    if (depth > DEEPEST) throw new RangeError('nested too deeply');
    const code = this.uint(1);
    if (code < 0x80) return code;
    if (code < 0x90) return this.map(code & 15, depth);
    if (code < 0xa0) return this.list(code & 15, depth);
    if (code < 0xc0) return this.text(code & 31);
    if (code >= 0xe0) return code - 0x100;
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return code === 0xc3;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.take(this.uint(1 << (code - 0xc4)));
      case 0xca:
        return this.view.getFloat32(this.skip(4));
      case 0xcb:
        return this.view.getFloat64(this.skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.uint(1 << (code - 0xcc));
      case 0xcf:
        return this.uint(4) * 2 ** 32 + this.uint(4);
      case 0xd0:
        return this.view.getInt8(this.skip(1));
      case 0xd1:
        return this.view.getInt16(this.skip(2));
      case 0xd2:
        return this.view.getInt32(this.skip(4));
      case 0xd3:
        return this.view.getInt32(this.skip(4)) * 2 ** 32 + this.uint(4);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.uint(1 << (code - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.list(this.uint(2 << (code - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return this.map(this.uint(2 << (code - 0xde)), depth);
      default:
        throw new RangeError(`no value begins with ${code.toString(16)}`);
    }
  }

  private list(length: number, depth: number): unknown[] {
    // Each value takes a byte at least: what is announced must fit.
    this.check(length);
    const list: unknown[] = [];
    for (let index = 0; index < length; index++) list.push(this.next(depth + 1));
    return list;
  }

  private map(length: number, depth: number): Record<string, unknown> {
    this.check(2 * length);
    // Without a prototype no name means anything.
    const map: Record<string, unknown> = Object.create(null);
    for (let index = 0; index < length; index++) {
      const key = this.next(depth + 1);
      if (typeof key !== 'string') throw new RangeError('a key that is no text');
      map[key] = this.next(depth + 1);
    }
    return map;
  }

  private text(length: number): string {
    return DECODER.decode(this.take(length));
  }

  private take(length: number): Uint8Array {
    const from = this.skip(length);
    return this.bytes.subarray(from, from + length);
  }

  private uint(width: number): number {
    const at = this.skip(width);
    if (width === 1) return this.bytes[at];
    return width === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }

  private skip(length: number): number {
    this.check(length);
    const { at } = this;
    this.at += length;
    return at;
  }

  private check(length: number): void {
    if (length > this.bytes.length - this.at) throw new RangeError('the bytes end too early');
  }
}
