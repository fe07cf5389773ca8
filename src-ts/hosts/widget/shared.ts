import { FeedReader, type FeedState, type FeedStatus } from '../../core/feed';
import type { Stop } from '../../core/recording';
import { LivePage } from '../live-page';
import { listen, type Model } from './model';
import { keepTraits } from './traits';

/** How long all views must be out of sight before the kernel is told, milliseconds. */
const OUT_OF_SIGHT = 2000;

/** Least time between two tellings of what has come, milliseconds. */
const TELLING = 500;

/** How long nothing may have come before a page that is looked at again asks for what it lacks, milliseconds. */
const SILENCE = 15_000;

export const NO_ANSWER =
  'The kernel does not answer. If it is busy, this goes on when its cell has ended; ' +
  'if it has been restarted or this notebook was opened without it, run the cell again.';

/** Views of this page, by the widget that they show. */
const all = new Map<string, Shared>();

/**
 * What the views of one widget in one page have in common: the connection, the
 * data, the selection. It begins with the first view and ends with the last.
 */
export class Shared {
  readonly page = new LivePage();
  private readonly reader: FeedReader;
  /** A host takes away what was registered through a view's model when that view goes: one of them listens. */
  private views: { readonly view: object; readonly model: Model }[] = [];
  private unlisten: Stop = () => undefined;
  private readonly callbacks = new Set<() => void>();
  private readonly seen = new Set<object>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private soon: ReturnType<typeof setTimeout> | undefined;
  private heard = 0;
  private told: FeedState = {};

  private constructor(
    private readonly key: string,
    version: string
  ) {
    this.reader = new FeedReader(
      {
        send: message => this.send(message),
        take: (bytes, how) => {
          this.page.take(bytes, how);
          this.tellSoon();
        },
        reset: () => this.page.reset(),
        state: state => {
          this.told = state;
          this.tell();
        },
        status: () => this.tell()
      },
      { version, unanswered: NO_ANSWER }
    );
    this.page.needs.onChange(() => this.reader.need(this.page.needs.tables));
  }

  /** What the views of this model share; to be given up by `leave`. */
  static join(model: Model, view: object): Shared {
    const key = model.get('_key');
    const found = all.get(key);
    const shared = found ?? new Shared(key, model.get('_version'));
    shared.views.push({ view, model });
    if (!found) {
      all.set(key, shared);
      shared.listen();
      shared.reader.hello();
    }
    return shared;
  }

  /** A view goes; with the last one everything does. */
  leave(view: object): void {
    const listened = this.views[0]?.view === view;
    const left = this.views.filter(each => each.view !== view);
    if (left.length === 0) {
      this.reader.bye();
      this.end();
      return;
    }
    this.views = left;
    if (listened) this.listen();
    this.setVisible(view, false);
  }

  /** How the connection stands, in words. */
  get status(): FeedStatus {
    return this.reader.status;
  }

  /** What the kernel says of itself. */
  get state(): FeedState {
    return this.told;
  }

  onChange(callback: () => void): Stop {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** Whether a person can see a view. */
  setVisible(view: object, visible: boolean): void {
    if (visible) this.seen.add(view);
    else this.seen.delete(view);
    clearTimeout(this.timer);
    if (this.seen.size > 0) this.reader.setVisible(true);
    else this.timer = setTimeout(() => this.reader.setVisible(false), OUT_OF_SIGHT);
  }

  /** A person is there: the kernel, if it rests, is to go on. */
  wake(): void {
    if (!this.told.resting || this.status.phase !== 'live') return;
    // Once, however many keys are pressed before it answers.
    this.told = { ...this.told, resting: false };
    this.reader.hello();
  }

  private send(message: unknown): void {
    try {
      this.views[0]?.model.send(message);
    } catch {
      // Hosts refuse it when the kernel has gone; whoever shows the panels is told by the words in the head.
    }
  }

  private listen(): void {
    this.unlisten();
    const { model } = this.views[0] as { model: Model };
    const receive = (content: unknown, buffers: DataView[]): void => {
      this.heard = Date.now();
      this.reader.receive(content, buffers);
    };
    model.on('msg:custom', receive);
    const greet = (): void => {
      // What has ended has all that it needs, once that is there.
      const { phase } = this.reader.status;
      if (phase === 'gone' || (!model.get('_live') && phase === 'live')) return;
      this.reader.lost('Waiting for the kernel.');
      this.reader.hello();
    };
    // What was on its way while the page slept or had no network may be lost.
    const awake = (): void => {
      const waits = document.hidden || this.reader.status.phase === 'waiting';
      if (!waits && Date.now() - this.heard > SILENCE) greet();
    };
    document.addEventListener('visibilitychange', awake);
    addEventListener('online', awake);
    const stopGreeting = listen(model, 'comm_live_update', greet);
    const stopTraits = keepTraits(model, this.page.selection, this.page.recording);
    this.unlisten = () => {
      model.off('msg:custom', receive);
      stopGreeting();
      document.removeEventListener('visibilitychange', awake);
      removeEventListener('online', awake);
      stopTraits();
    };
  }

  private end(): void {
    all.delete(this.key);
    for (const timer of [this.timer, this.soon]) clearTimeout(timer);
    this.unlisten();
    this.views = [];
    this.callbacks.clear();
    this.page.dispose();
  }

  private tellSoon(): void {
    this.soon ??= setTimeout(() => this.tell(), TELLING);
  }

  private tell(): void {
    clearTimeout(this.soon);
    this.soon = undefined;
    for (const callback of [...this.callbacks]) callback();
  }
}
