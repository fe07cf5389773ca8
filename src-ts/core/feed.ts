import { BatchError } from './batch';

/** The messages of `dask_insight/session/feed.py`, which describes them, as a page sees them. */

/** Must be the kernel's. */
export const PROTOCOL = 1;

/** Bytes and messages after which a page says how far it has come: half of the kernel's credit. */
const ACKNOWLEDGE_BYTES = 8 * 2 ** 20;
const ACKNOWLEDGE_MESSAGES = 300;
/** The same where that waits for no cell: an eighth of what the kernel begins with. */
const ACKNOWLEDGE_AT_ONCE = 256 * 2 ** 10;

/** Milliseconds after which a greeting that nobody has answered is said again; then twice that, and so on. */
const PATIENCE = 4_000;
const LONGEST = 64_000;

export type FeedPhase =
  /** Nobody has answered yet. */
  | 'waiting'
  /** The history is arriving. */
  | 'replay'
  /** All that there is has arrived; more comes as it happens. */
  | 'live'
  /** It has ended; what has come is kept. */
  | 'gone'
  /** Kernel and page do not understand each other. */
  | 'refused';

export interface FeedStatus {
  readonly phase: FeedPhase;
  /** For a person. */
  readonly words: string;
  /** Batches taken in, and batches there were when the kernel answered. */
  readonly at: number;
  readonly upto: number;
}

/** What the kernel says of itself, its clusters, its cells and its losses; see `session/live.py`. */
export type FeedState = Readonly<Record<string, unknown>>;

/** How batches have come. */
export interface Delivery {
  /** So many bytes each of the first pieces have, which are compressed by zlib. */
  readonly packed?: readonly number[];
  /** Whether more of the history follows at once; not said where that is not known. */
  readonly more?: boolean;
}

/** What a reader is connected to. */
export interface FeedPort {
  /** Sends a message to the kernel; may do nothing while there is no way to it. */
  send(message: Readonly<Record<string, unknown>>): void;
  /** Takes batches that stand one after another. */
  take(bytes: Uint8Array, how: Delivery): void;
  /** What has been taken is void: it comes again, or something else does. */
  reset(): void;
  state(state: FeedState): void;
  status(status: FeedStatus): void;
}

export interface FeedOptions {
  /** The version of this package on the page's side. */
  readonly version: string;
  readonly visible?: boolean;
  /** Whether what it says reaches the kernel while a cell runs. */
  readonly prompt?: boolean;
  /** What a person is told when nobody has answered for a while; by default nothing new. */
  readonly unanswered?: string;
  /** Id of this page; a random one by default. */
  readonly page?: string;
}

type Message = Readonly<Record<string, unknown>>;
type Bytes = ArrayBuffer | ArrayBufferView;

/**
 * A page's end of a feed: knows how far it has come, asks for what it lacks,
 * and hands on every batch once, in order.
 */
export class FeedReader {
  readonly page: string;
  private feed = '';
  private at = 0;
  private upto = 0;
  private phase: FeedPhase = 'waiting';
  private words = 'Waiting for the kernel.';
  /** A hello has been sent and not been answered: what comes is the answer to something older. */
  private asking = false;
  private damage = '';
  private unsaidBytes = 0;
  private unsaidMessages = 0;
  private patience: ReturnType<typeof setTimeout> | undefined;
  private visible: boolean;
  private needs: readonly string[] = [];

  constructor(
    private readonly port: FeedPort,
    private readonly options: FeedOptions
  ) {
    this.page = options.page ?? randomId();
    this.visible = options.visible ?? true;
  }

  /** Position in the feed, and how it stands. */
  get status(): FeedStatus {
    return { phase: this.phase, words: this.words, at: this.at, upto: Math.max(this.upto, this.at) };
  }

  /**
   * Says who this is and where it stands, until somebody answers; to be called when there is (again)
   * a way to the kernel.
   */
  hello(wait = PATIENCE): void {
    this.asking = true;
    const have = this.feed ? { feed: this.feed, at: this.at } : null;
    const { version, prompt } = this.options;
    const { visible, needs } = this;
    const unpacks = typeof DecompressionStream === 'function';
    this.say('hello', { protocol: PROTOCOL, version, have, visible, needs, unpacks, prompt });
    clearTimeout(this.patience);
    this.patience = setTimeout(() => {
      if (!this.asking) return;
      if (this.phase === 'waiting') this.become('waiting', this.options.unanswered ?? this.words);
      // Elsewhere hellos wait for the cell that runs, and would all be answered after it.
      this.hello(prompt ? Math.min(2 * wait, LONGEST) : 2 * wait);
    }, wait);
  }

  /** Nothing is sent to a page that nobody looks at; it catches up when it is looked at again. */
  setVisible(visible: boolean): void {
    if (visible === this.visible) return;
    this.visible = visible;
    this.say('visible', { visible });
  }

  /** Of the tables that the kernel works out, those that are shown: it works out no others. */
  need(tables: readonly string[]): void {
    if (tables.join() === this.needs.join()) return;
    this.needs = [...tables];
    this.say('needs', { tables: this.needs });
  }

  /** Hands the kernel what a person has set. */
  set(values: Readonly<Record<string, unknown>>): void {
    this.say('settings', { values });
  }

  /** There is no way to the kernel any more; what has come is kept until another feed begins. */
  lost(words: string): void {
    this.asking = false;
    this.become('waiting', words);
  }

  bye(): void {
    this.asking = false;
    this.say('bye', {});
  }

  /** Takes a message of the kernel; what is for others or makes no sense is left aside. */
  receive(data: unknown, buffers: readonly Bytes[]): void {
    if (typeof data !== 'object' || data === null) return;
    const message = data as Message;
    const pages = message.pages;
    if (Array.isArray(pages) && !pages.includes(this.page)) return;
    switch (message.type) {
      case 'hello':
        this.greeted(message, Array.isArray(pages));
        break;
      case 'data':
        this.arrived(message, buffers[0]);
        break;
      case 'answers':
        if (message.feed === this.feed && !this.asking && buffers[0]) this.take(bytesOf(buffers[0]), {});
        break;
      case 'state':
        if (message.feed === this.feed) this.port.state(message);
        break;
      case 'gone':
        if (message.feed !== this.feed) break;
        this.asking = false;
        this.become('gone', 'Recording has ended in the kernel.');
        break;
    }
  }

  private greeted(message: Message, answer: boolean): void {
    if (message.protocol !== PROTOCOL) {
      this.asking = false;
      this.become('refused', misfit(this.options.version, message));
      return;
    }
    if (!answer) {
      // It has just opened and does not know this page.
      if (!this.asking || message.feed !== this.feed) this.hello();
      return;
    }
    this.asking = false;
    this.upto = count(message.upto);
    if (message.feed !== this.feed) {
      const first = this.feed === '';
      this.feed = String(message.feed);
      this.at = 0;
      if (!first) this.reset();
    }
    this.unsaidBytes = 0;
    this.unsaidMessages = 0;
    this.progress();
  }

  private arrived(message: Message, buffer: Bytes | undefined): void {
    if (buffer === undefined || this.phase === 'refused') return;
    const from = count(message.from);
    const to = count(message.to);
    // Before it is answered only what continues exactly: that was on its way already.
    if (this.asking && (message.feed !== this.feed || from !== this.at)) return;
    if (message.feed === this.feed && to <= this.at && from !== 0) return;
    if (message.feed !== this.feed || (from !== this.at && from !== 0)) {
      this.hello();
      return;
    }
    if (from === 0 && this.at > 0) this.reset();
    this.at = to;
    if (message.replay === false) this.upto = to;
    this.take(bytesOf(buffer), { packed: lengths(message.packed), more: message.replay === true });
    this.progress();
  }

  private reset(): void {
    this.damage = '';
    this.port.reset();
  }

  private take(bytes: Uint8Array, how: Delivery): void {
    try {
      this.port.take(bytes, how);
    } catch (error) {
      if (!(error instanceof BatchError)) throw error;
      this.damage = ` Some of what came could not be read: ${error.message}.`;
    }
    this.unsaidBytes += bytes.length;
    this.unsaidMessages += 1;
    const most = this.options.prompt ? ACKNOWLEDGE_AT_ONCE : ACKNOWLEDGE_BYTES;
    if (this.unsaidBytes >= most || this.unsaidMessages >= ACKNOWLEDGE_MESSAGES) {
      this.unsaidBytes = 0;
      this.unsaidMessages = 0;
      this.say('ack', { at: this.at });
    }
  }

  private progress(): void {
    const share = Math.floor((100 * this.at) / this.upto);
    if (this.at >= this.upto) this.become('live', `Live.${this.damage}`);
    else this.become('replay', `Loading the history: ${share} %.${this.damage}`);
  }

  private become(phase: FeedPhase, words: string): void {
    if (phase === this.phase && words === this.words) return;
    this.phase = phase;
    this.words = words;
    this.port.status(this.status);
  }

  private say(type: string, rest: Message): void {
    this.port.send({ type, page: this.page, ...rest });
  }
}

/** Which side needs the newer version, in words. */
function misfit(own: string, theirs: Message): string {
  const kernel = String(theirs.version ?? '?');
  const page = `this page has dask-insight ${own}, the kernel ${kernel}`;
  return count(theirs.protocol) > PROTOCOL
    ? `The kernel's dask-insight is newer: ${page}. Install the newer one where JupyterLab runs, and reload the page.`
    : `The kernel's dask-insight is older: ${page}. Install the newer one where the kernel runs, and restart the kernel.`;
}

function bytesOf(buffer: Bytes): Uint8Array {
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer)
    : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

function lengths(value: unknown): number[] {
  return Array.isArray(value) ? value.map(count) : [];
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
