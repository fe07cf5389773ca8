import type { FeedStatus } from '@dask-insight/panels/core/feed';
import type { Stop } from '@dask-insight/panels/core/recording';
import { LivePage } from '@dask-insight/panels/hosts/live-page';
import { onSign } from '@dask-insight/panels/hosts/signs';
import type { Kernel } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import { type KernelLink, KernelLinks } from '../link/kernel-links';
import { type KernelState, readState } from './kernel-state';
import { LatestCell } from './latest-cell';

/** What one kernel has sent: the page that its panels share, and how the link to it stands. */
export class LiveKernel {
  /** The cells of its page, and whether that goes along with the latest. */
  readonly latest: LatestCell;
  private readonly changedSignal = new Signal<this, void>(this);
  private readonly watchers = new Set<unknown>();
  private readonly stopWaking: Stop;
  private known: KernelState = readState(undefined);

  constructor(
    readonly page: LivePage,
    private readonly link: KernelLink
  ) {
    this.latest = new LatestCell(page);
    this.latest.switched.connect(() => this.changedSignal.emit());
    link.changed.connect(this.renew, this);
    page.needs.onChange(() => link.need(page.needs.tables));
    document.addEventListener('visibilitychange', this.look);
    // Be it to a panel or to anything else on the page.
    this.stopWaking = onSign(document, () => this.wake());
    this.look();
  }

  get id(): string {
    return this.link.kernelId;
  }

  get status(): FeedStatus {
    return this.link.status;
  }

  /** Whether the kernel part has been heard of. */
  get loaded(): boolean {
    return this.link.loaded;
  }

  /** Whether it is still being found out if the kernel part is there. */
  get seeking(): boolean {
    return this.link.seeking;
  }

  /** Whether the kernel runs another language than Python. */
  get foreign(): boolean {
    return this.link.foreign;
  }

  /** Whether the kernel part has said how things stand. */
  get told(): boolean {
    return this.link.state !== undefined;
  }

  /** Whether nothing has come of any computation or cluster. */
  get empty(): boolean {
    const { recording } = this.page;
    return recording.table('graph').rows === 0 && recording.table('resources').rows === 0;
  }

  get state(): KernelState {
    return this.known;
  }

  /** Tells when `status`, `loaded`, `state` or `latest` have changed. */
  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  /** Says whether somebody looks at what it sends; while nobody does, nothing is sent. */
  show(who: unknown, visible: boolean): void {
    if (visible) this.watchers.add(who);
    else this.watchers.delete(who);
    this.look();
  }

  /** Hands the kernel what a person has set. */
  set(values: Readonly<Record<string, unknown>>): void {
    this.link.setSettings(values);
  }

  dispose(): void {
    document.removeEventListener('visibilitychange', this.look);
    this.stopWaking();
    this.link.changed.disconnect(this.renew, this);
    this.link.dispose();
    this.page.dispose();
    Signal.clearData(this);
  }

  private readonly look = (): void => {
    this.link.setVisible(this.watchers.size > 0 && !document.hidden);
  };

  private wake(): void {
    if (!this.known.resting || this.watchers.size === 0) return;
    // Once, however many keys are pressed before it answers.
    this.known = { ...this.known, resting: false };
    this.link.wake();
  }

  private renew(): void {
    this.known = readState(this.link.state);
    this.changedSignal.emit();
  }
}

/** One `LiveKernel` for every kernel that somebody has asked for. */
export class LiveKernels {
  private readonly byId = new Map<string, LiveKernel>();
  private readonly pages = new Map<string, LivePage>();
  private values: Readonly<Record<string, unknown>> = {};
  private readonly links = new KernelLinks(id => {
    const page = new LivePage();
    this.pages.set(id, page);
    return page;
  });

  /** Follows a kernel from now on; the same one again, if it is followed already. */
  follow(kernel: Kernel.IKernelConnection): LiveKernel {
    const link = this.links.follow(kernel);
    let live = this.byId.get(link.kernelId);
    if (!live) {
      live = new LiveKernel(this.pages.get(link.kernelId) as LivePage, link);
      this.byId.set(link.kernelId, live);
      live.set(this.values);
    }
    return live;
  }

  /** Hands all kernels what a person has set. */
  set(values: Readonly<Record<string, unknown>>): void {
    this.values = values;
    for (const live of this.byId.values()) live.set(values);
  }

  /** Lets go of the kernels that nobody needs any more, with all that they have sent. */
  keep(needed: ReadonlySet<LiveKernel>): void {
    for (const [id, live] of this.byId) {
      if (needed.has(live)) continue;
      this.byId.delete(id);
      this.pages.delete(id);
      live.dispose();
    }
  }
}
