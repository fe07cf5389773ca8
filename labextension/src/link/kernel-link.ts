import { type Delivery, FeedReader, type FeedState, type FeedStatus } from '@dask-insight/panels/core/feed';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';
import { version } from '../../package.json';
import { commsOf, isOurs, sendOnComm, TARGET } from './messages';

/** Where what a kernel sends goes: a `LivePage`. */
export interface Sink {
  take(bytes: Uint8Array, how: Delivery): void;
  reset(): void;
}

/**
 * This page's link to the live session of one kernel. It outlives connections,
 * restarts of the kernel and reloads of its extension: what has come stays in
 * the sink until another session begins.
 */
export class KernelLink {
  readonly kernelId: string;
  private readonly changedSignal = new Signal<this, void>(this);
  private readonly reader: FeedReader;
  private readonly connections = new Set<Kernel.IKernelConnection>();
  /** The connection that is listened to. */
  private kernel: Kernel.IKernelConnection | undefined;
  private comm = '';
  /** Session id of the process that sends, and those of processes that have ended. */
  private process = '';
  private readonly ended = new Set<string>();
  private said: FeedState | undefined;
  /** Whether the kernel has told if the kernel part is there. */
  private found = false;
  private isForeign = false;
  private settings: Readonly<Record<string, unknown>> = {};

  constructor(
    kernelId: string,
    sink: Sink,
    private readonly released: () => void
  ) {
    this.kernelId = kernelId;
    this.reader = new FeedReader(
      {
        send: message => this.send(message),
        take: (bytes, how) => sink.take(bytes, how),
        reset: () => sink.reset(),
        state: state => {
          this.said = state;
          this.tell();
        },
        status: status => {
          if (status.phase === 'gone') this.forget();
          this.tell();
        }
      },
      { version, visible: false, prompt: true }
    );
    window.addEventListener('pagehide', this.bye);
  }

  /** Whether the kernel part has been heard of in this life of the kernel. */
  get loaded(): boolean {
    return this.comm !== '';
  }

  /** Whether it is still being found out if the kernel part is there, as after a reload of the page. */
  get seeking(): boolean {
    return !this.loaded && !this.found;
  }

  /** Whether the kernel runs another language than Python. */
  get foreign(): boolean {
    return this.isForeign && !this.loaded;
  }

  get status(): FeedStatus {
    return this.reader.status;
  }

  /** What the kernel part has said of itself last; undefined while it is not loaded. */
  get state(): FeedState | undefined {
    return this.loaded ? this.said : undefined;
  }

  /** Tells when `loaded`, `seeking`, `foreign`, `status` or `state` have changed, or how the kernel is connected. */
  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  /** Whether somebody looks; nothing is sent to those who do not. */
  setVisible(visible: boolean): void {
    this.reader.setVisible(visible);
  }

  /** Somebody is there: the kernel part, which rests, is to go on. */
  wake(): void {
    if (this.loaded) this.reader.hello();
  }

  /** Of the tables that the kernel works out, those that are shown. */
  need(tables: readonly string[]): void {
    this.reader.need(tables);
  }

  /** Hands the kernel what a person has set, now and whenever it begins anew. */
  setSettings(values: Readonly<Record<string, unknown>>): void {
    this.settings = values;
    if (this.loaded) this.reader.set(values);
  }

  /** Listens to a connection, or stands by for the time when the one it listens to ends. */
  connect(kernel: Kernel.IKernelConnection): void {
    if (kernel.isDisposed || this.connections.has(kernel)) return;
    this.connections.add(kernel);
    kernel.disposed.connect(this.disconnect, this);
    kernel.connectionStatusChanged.connect(this.connected, this);
    // Without a target the services would refuse our comm, for all pages.
    kernel.registerCommTarget(TARGET, () => undefined);
    if (this.kernel) this.connected(kernel, kernel.connectionStatus);
    else this.listen(kernel);
  }

  dispose(): void {
    this.bye();
    window.removeEventListener('pagehide', this.bye);
    for (const kernel of this.connections) Signal.disconnectBetween(kernel, this);
    this.connections.clear();
    this.kernel = undefined;
    this.released();
    Signal.clearData(this);
  }

  /** A connection that stands: others may have been given up after a long outage. */
  private get up(): Kernel.IKernelConnection | undefined {
    return [...this.connections].find(({ connectionStatus }) => connectionStatus === 'connected');
  }

  private readonly bye = (): void => {
    if (this.loaded) this.reader.bye();
  };

  private listen(kernel: Kernel.IKernelConnection): void {
    this.kernel?.iopubMessage.disconnect(this.heard, this);
    this.kernel?.statusChanged.disconnect(this.lived, this);
    this.kernel = kernel;
    kernel.iopubMessage.connect(this.heard, this);
    kernel.statusChanged.connect(this.lived, this);
    // What is sent before is held back for seconds while the kernel is busy.
    if (kernel.connectionStatus === 'connected') this.connected(kernel, 'connected');
  }

  private disconnect(kernel: Kernel.IKernelConnection): void {
    this.connections.delete(kernel);
    Signal.disconnectBetween(kernel, this);
    if (kernel !== this.kernel) return;
    this.kernel = undefined;
    const next = this.up ?? [...this.connections].at(-1);
    if (next) {
      this.listen(next);
      return;
    }
    this.forget();
    this.found = false;
    this.reader.lost('Not connected to the kernel.');
    this.tell();
  }

  /** Looks whether the kernel part is there already, as after a reload of the page. */
  private async seek(kernel: Kernel.IKernelConnection): Promise<void> {
    const foreign = await isForeign(kernel);
    const comm = foreign ? undefined : await ours(kernel);
    if (this.loaded || kernel !== this.kernel) return;
    this.found = true;
    this.isForeign = foreign;
    if (comm === undefined) this.tell();
    else this.adopt(comm);
  }

  private heard(kernel: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void {
    const { session, msg_type } = message.header;
    if (this.ended.has(session)) return;
    if (this.process && session !== this.process && livesOn(message)) {
      // Nobody knows when: the kernel part may have been loaded since.
      this.end('The kernel has been restarted.', false);
      void this.seek(kernel);
    }
    if (msg_type === 'comm_close' && (message as KernelMessage.ICommCloseMsg).content.comm_id === this.comm) {
      this.forget();
      this.reader.lost('The extension has been unloaded in the kernel.');
      this.tell();
    }
    if (!isOurs(message)) return;
    this.process = session;
    const { comm_id, data } = message.content;
    if (comm_id === this.comm) this.reader.receive(data, message.buffers ?? []);
    else this.adopt(comm_id);
  }

  private adopt(comm: string): void {
    this.comm = comm;
    this.reader.hello();
    this.reader.set(this.settings);
    this.tell();
  }

  private lived(_: Kernel.IKernelConnection, status: KernelMessage.Status): void {
    if (status === 'restarting' || status === 'autorestarting') this.end('The kernel is restarting.');
    else if (status === 'dead') this.end('The kernel has ended.');
  }

  /** The kernel's process has ended; the next one begins without the kernel part, if it is a new one. */
  private end(words: string, found = true): void {
    // What it still has on the way must not be taken for the next one's.
    if (this.process) this.ended.add(this.process);
    this.process = '';
    this.forget();
    this.found = found;
    this.reader.lost(words);
    this.tell();
  }

  private connected(kernel: Kernel.IKernelConnection, status: Kernel.ConnectionStatus): void {
    const other = this.kernel?.connectionStatus === 'connected' ? undefined : this.up;
    if (other) this.listen(other);
    else if (kernel !== this.kernel) this.tell();
    else if (!this.loaded) {
      if (status === 'connected') void this.seek(kernel);
      else this.tell();
    } else if (status === 'connected') this.reader.hello();
    else this.reader.lost('Connecting to the kernel again.');
  }

  private forget(): void {
    this.comm = '';
    this.said = undefined;
  }

  private send(message: Readonly<Record<string, unknown>>): void {
    const { kernel, comm } = this;
    if (!kernel || !comm || kernel.isDisposed || kernel.status === 'dead') return;
    sendOnComm(kernel, comm, message as JSONObject);
  }

  private tell(): void {
    this.changedSignal.emit();
  }
}

/** The comm of the kernel part; undefined where there is none, or the connection has ended. */
async function ours(kernel: Kernel.IKernelConnection): Promise<string | undefined> {
  try {
    return (await commsOf(kernel)).at(-1);
  } catch {
    return undefined;
  }
}

/** Whether it is known that a kernel does not run Python. */
async function isForeign(kernel: Kernel.IKernelConnection): Promise<boolean> {
  try {
    const spec = await kernel.spec;
    return spec !== undefined && spec.language !== 'python';
  } catch {
    return false;
  }
}

/** Whether a message shows that the process which sent it runs; servers speak in the name of those that do not. */
function livesOn(message: KernelMessage.IIOPubMessage): boolean {
  if (message.header.msg_type !== 'status') return false;
  const { execution_state } = (message as KernelMessage.IStatusMsg).content;
  return execution_state === 'starting' || execution_state === 'busy' || execution_state === 'idle';
}
