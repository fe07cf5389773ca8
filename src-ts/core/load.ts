import { decodeAll } from './batch';
import type { Recording } from './recording';

/** Longest time that decoding holds the thread before it lets the page breathe, milliseconds. */
const SLICE = 12;

/** Compressed bytes may unpack to this many times their size and this much more. */
const EXPANSION = 100;
const ALLOWANCE = 0x100_0000;
/** Compressed bytes that are unpacked in one go: all that they unpack to is there before it can be counted. */
const PIECE = 0x4000;

/** Work in slices, between which the page does what else it has to do. */
export class Pace {
  private since = performance.now();

  constructor(private readonly slice = SLICE) {}

  /** Ends the slice if it has been long enough. */
  async rest(): Promise<void> {
    if (performance.now() - this.since <= this.slice) return;
    await breathe();
    this.since = performance.now();
  }
}

/** Lets everything else that waits run once. */
export function breathe(): Promise<void> {
  return new Promise(resolve => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}

/**
 * Undoes zlib compression with what the browser brings. Throws `TypeError` if the bytes are damaged,
 * or unpack to far more than any recording's do.
 *
 * The chunks are read one by one: `Response.arrayBuffer` takes three times as long.
 */
export async function inflate(compressed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream('deflate');
  const writer = writable.getWriter();
  const write = async (): Promise<void> => {
    for (let at = 0; at < compressed.length; at += PIECE)
      await writer.write(compressed.subarray(at, at + PIECE));
    await writer.close();
  };
  const written = write();
  // The reader hears of damage first; that the writer does too is no second error.
  written.catch(() => {});
  const reader = readable.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
    if (length <= EXPANSION * compressed.length + ALLOWANCE) continue;
    await reader.cancel();
    throw new TypeError('it unpacks to too much');
  }
  await written;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * Takes all batches of a buffer, in slices, so that the page stays alive.
 *
 * `progress` hears the share that is done, 0 to 1. Throws
 * `BatchError` where the bytes cease to be batches; those before are kept.
 */
export async function load(
  recording: Recording,
  bytes: Uint8Array,
  progress: (share: number) => void = () => {},
  pace = new Pace()
): Promise<void> {
  let done = 0;
  for (const batch of decodeAll(bytes)) {
    recording.take(batch);
    for (const { size } of batch.columns.values()) done += size;
    progress(Math.min(0.99, done / bytes.length));
    await pace.rest();
  }
  progress(1);
}
