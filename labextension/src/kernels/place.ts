import type { ISessionContext } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { Kernel, Session } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import type { LiveKernel, LiveKernels } from './live-kernel';

export type PlaceKind = 'notebook' | 'console';

/**
 * A notebook or a console: what panels belong to. It outlives its document, so
 * that panels stand where they stood when the document or the page is opened
 * again; the kernel it has is whichever runs there now.
 */
export class Place {
  private readonly changedSignal = new Signal<this, void>(this);
  private readonly replacedSignal = new Signal<this, void>(this);
  private context: ISessionContext | undefined;
  private own: Session.ISessionConnection | undefined;
  private shown: LiveKernel | undefined;
  private label: string | undefined;
  /** Whether it is known if a kernel runs for it while its document is closed. */
  private sought = false;
  private at: string;
  /** What `latest` is while there is no kernel. */
  private wanted = false;

  constructor(
    readonly kind: PlaceKind,
    path: string,
    private readonly kernels: LiveKernels
  ) {
    this.at = path;
  }

  /** The same after a reload of the page. */
  get id(): string {
    return `${this.kind}:${this.at}`;
  }

  get path(): string {
    return this.at;
  }

  /** For a person. */
  get name(): string {
    return this.label ?? PathExt.basename(this.at);
  }

  /** Whether its document is open. */
  get open(): boolean {
    return this.context !== undefined;
  }

  get kernel(): Kernel.IKernelConnection | undefined {
    return (this.own ?? this.context?.session)?.kernel ?? undefined;
  }

  /** Whether it is still being found out if it has a kernel, as after a reload of the page. */
  get connecting(): boolean {
    if (this.kernel) return false;
    return this.context ? this.context.kernelDisplayStatus === 'initializing' : !this.sought;
  }

  /** What its kernel has sent; that of the last kernel where there is none now. */
  get live(): LiveKernel | undefined {
    return this.shown;
  }

  /** Whether a kernel runs for it that can be asked for what it has recorded. */
  get answers(): boolean {
    return this.kernel !== undefined && (this.live?.loaded ?? false);
  }

  /** Whether its panels go along with the latest cell, of the kernels that it has later too. */
  get latest(): boolean {
    return this.shown?.latest.on ?? this.wanted;
  }

  set latest(on: boolean) {
    this.wanted = on;
    if (this.shown) this.shown.latest.on = on;
  }

  /** Tells when its name, its kernel or what is known of that have changed. */
  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  /** Tells, after `changed`, when it shows another kernel instead of the one before. */
  get replaced(): ISignal<this, void> {
    return this.replacedSignal;
  }

  rename(path: string): void {
    this.at = path;
    this.changedSignal.emit();
  }

  /** Its document has a name of its own, as consoles have. */
  call(name: string): void {
    if (name === this.name) return;
    this.label = name;
    this.changedSignal.emit();
  }

  /** Its document has been opened. */
  attach(context: ISessionContext): void {
    this.release();
    this.context = context;
    context.kernelChanged.connect(this.follow, this);
    context.statusChanged.connect(this.tell, this);
    void context.ready.then(() => this.tell());
    this.follow();
  }

  /** Its document has been closed; its kernel may live on. */
  detach(context: ISessionContext): void {
    if (context !== this.context) return;
    Signal.disconnectBetween(context, this);
    this.context = undefined;
    this.sought = false;
    this.tell();
  }

  /** A session that runs for it although its document is closed, if any does; it is let go of when that opens. */
  lend(session: Session.ISessionConnection | undefined): void {
    this.release();
    this.own = session;
    this.sought = true;
    session?.kernelChanged.connect(this.follow, this);
    session?.statusChanged.connect(this.tell, this);
    this.follow();
  }

  dispose(): void {
    this.release();
    if (this.context) this.detach(this.context);
    this.watch(undefined);
    Signal.clearData(this);
  }

  private release(): void {
    const { own } = this;
    this.own = undefined;
    if (!own) return;
    Signal.disconnectBetween(own, this);
    own.dispose();
  }

  private follow(): void {
    const { kernel, shown } = this;
    if (kernel && !kernel.isDisposed) this.watch(this.kernels.follow(kernel));
    this.tell();
    if (shown && shown !== this.shown) this.replacedSignal.emit();
  }

  private watch(next: LiveKernel | undefined): void {
    if (next === this.shown) return;
    const { latest } = this;
    this.shown?.changed.disconnect(this.tell, this);
    this.shown = next;
    next?.changed.connect(this.tell, this);
    if (latest && next) next.latest.on = true;
  }

  private tell(): void {
    this.changedSignal.emit();
  }
}
