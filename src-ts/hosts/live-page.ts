import { type Batch, BatchError, decodeAll } from '../core/batch';
import { type CellRun, cellOf, cellsOf, cellsWithTasks, cellWords, chosenCell } from '../core/cells';
import type { Delivery } from '../core/feed';
import { breathe, inflate } from '../core/load';
import { madeFrom } from '../core/made-from';
import { Recording, type Stop } from '../core/recording';
import type { Selection, TimeRange } from '../core/selection';
import { Tasks } from '../core/tasks';
import type { Viewport } from '../draw/viewport';
import { PANELS } from '../panels/index';
import { focusPanel, mount } from '../panels/mount';
import type { Stage } from '../panels/panel';
import { createStage, prefixesOf } from '../panels/stage';
import { followRuns } from './follow-runs';
import { showKeys } from './help';
import { listenToKeys } from './keys';
import { Needs } from './needs';
import { keepScheme } from './scheme';

/** Longest time that new data hold the page before it may breathe, milliseconds. */
const SLICE = 12;

/** How long a replay may rest before what has come of it is shown, milliseconds. */
const PATIENCE = 700;

/** The same where more of it has been announced: the page or the kernel may be busy. */
const LONG_PATIENCE = 10_000;

/** Of so many different damages a person is told, the newest. */
const MOST_DAMAGES = 20;

/** Batches as they have arrived, one after another. */
interface Arrived {
  readonly bytes: Uint8Array;
  /** Compressed by zlib: it stays so until its turn has come. */
  readonly packed: boolean;
  /** Whether more of a history follows at once, if that is known. */
  readonly more: boolean | undefined;
}

/** A panel in its place. */
export interface LivePanel {
  readonly element: HTMLElement;
  /** Puts the keyboard into it. */
  focus(): void;
  /** Puts away the card that is shown. */
  dismiss(): void;
  dispose(): void;
}

/** A run of a notebook cell, as a picker offers it. */
export interface CellChoice extends CellRun {
  /** `[5] df.sum().compute() (3.2 s)` */
  readonly words: string;
  /** False for a cell that handed no tasks to Dask. */
  readonly hasTasks: boolean;
}

const cellChoices = madeFrom(['cells', 'submissions'], (recording): readonly CellChoice[] => {
  const withTasks = cellsWithTasks(recording);
  return [...cellsOf(recording)]
    .reverse()
    .map(run => ({ ...run, words: cellWords(run), hasTasks: withTasks.has(run.execution) }));
});

export interface MountOptions {
  /** False where the place already has the panel's name on it, as a tab has. */
  readonly titled?: boolean;
  /** True where the place has a height of its own, as a tab has: a drawing that can makes use of it. */
  readonly fill?: boolean;
}

/**
 * The panels of one kernel: one recording that grows, one selection, one time
 * axis. Whoever has the connection calls `take` with what arrives and `reset`
 * when another recording begins; whoever has the room calls `mount`.
 */
export class LivePage {
  /** What its panels need of the kernel beside the rows that it records. */
  readonly needs = new Needs();
  private readonly stage: Stage;
  private readonly panels = new Set<LivePanel>();
  private readonly callbacks = new Set<() => void>();
  /** What has arrived and is not in a recording yet. */
  private queue: Arrived[] = [];
  private pumping = false;
  /** What has arrived since `paused`; `undefined` stands for a reset. */
  private held: (Arrived | undefined)[] | undefined;
  /** The recording that is about to replace the one shown. */
  private next: Recording | undefined;
  private patience: ReturnType<typeof setTimeout> | undefined;
  private problems: readonly string[] = [];
  /** Names what could not be read; where all is damaged alike, once. */
  private readonly damaged = (words: string): void => {
    if (this.problems.includes(words)) return;
    this.problems = [...this.problems.slice(1 - MOST_DAMAGES), words];
    // Who hears of it may look at the column that is being read.
    queueMicrotask(() => this.tell());
  };
  /** The cell whose time is shown, and that time as the charts show it. */
  private cellTime: (TimeRange & { readonly cell: number }) | undefined;
  /** When the session began that is shown, seconds since the epoch; undefined while nobody has said. */
  private session: unknown;

  constructor() {
    this.stage = createStage(new Recording(this.damaged), { live: true });
    this.stage.recording.onAppend(({ table }) => {
      if (table === 'about') this.recognise(this.recording);
      if (table === 'cells' || table === 'submissions') this.tell();
    });
    this.selection.subscribe(() => this.leaveCell());
    followRuns(this.stage);
    let following = this.stage.viewport.follow;
    this.stage.viewport.subscribe(() => {
      if (following === this.stage.viewport.follow) return;
      following = this.stage.viewport.follow;
      this.tell();
    });
  }

  get recording(): Recording {
    return this.stage.recording;
  }

  get selection(): Selection {
    return this.stage.selection;
  }

  get viewport(): Viewport {
    return this.stage.viewport;
  }

  /** In words, what arrived and could not be read: each once, the newest of them. */
  get damages(): readonly string[] {
    return this.problems;
  }

  /** Takes batches that stand one after another; what is damaged is left out and named in `damages`. */
  take(bytes: Uint8Array, { packed = [], more }: Delivery = {}): void {
    let at = 0;
    const put = (to: number, packed: boolean): void => {
      this.put({ bytes: bytes.subarray(at, to), packed, more: to < bytes.length || more });
      at = to;
    };
    for (const length of packed) put(at + length, true);
    if (at < bytes.length) put(bytes.length, false);
  }

  /**
   * Another recording begins. What is shown stays until the other one is whole
   * or has come as far, or nothing more comes of it; the panels then show it in place.
   * Selection, and a viewport that a person has set, are kept where the same session
   * is sent again, and forgotten where it is another one.
   */
  reset(): void {
    if (this.held) {
      // Nothing that was held before belongs to the recording that begins.
      this.held = [undefined];
      return;
    }
    this.queue = [];
    this.problems = [];
    this.next = new Recording(this.damaged);
    // Its tasks are worked out as they come, so that taking its place takes no time.
    this.stage.tasks.succeed(new Tasks(this.next));
    this.wait();
  }

  /** While true the panels stand still; data that arrive are kept until it is false again. */
  get paused(): boolean {
    return this.held !== undefined;
  }

  set paused(on: boolean) {
    if (on === this.paused) return;
    const held = this.held ?? [];
    this.held = on ? [] : undefined;
    this.needs.still = on;
    if (!on && this.next) this.wait();
    for (const each of held) {
      if (each) this.put(each);
      else this.reset();
    }
    this.tell();
  }

  /** True while the charts keep up with the run; any zoom or pan ends it. */
  get follow(): boolean {
    return this.stage.viewport.follow;
  }

  set follow(on: boolean) {
    this.stage.viewport.follow = on;
  }

  /** Tells when `paused`, `follow`, `cells` or `damages` have changed. */
  onChange(callback: () => void): Stop {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** Runs of notebook cells, newest first. */
  cells(): readonly CellChoice[] {
    return cellChoices(this.recording);
  }

  /** The run of a cell that every panel is narrowed to, if it is one. */
  get cell(): number | undefined {
    return chosenCell(this.selection);
  }

  /**
   * Narrows every panel to one run of a cell, and shows its time, which is followed
   * while it runs; `undefined` takes that back.
   */
  showCell(execution: number | undefined): void {
    const source = 'cells';
    this.cellTime = undefined;
    this.selection.only(
      'cell',
      execution === undefined ? [] : [{ source, column: 'cell', value: [execution] }]
    );
    this.showTimeOf(execution);
  }

  /** Puts a panel into `host`. Throws `Error` if there is no such panel. */
  mount(panelId: string, host: HTMLElement, { titled = true, fill = false }: MountOptions = {}): LivePanel {
    const panel = PANELS.find(({ id }) => id === panelId);
    if (!panel) {
      const known = PANELS.map(({ id }) => id).join(', ');
      throw new Error(`there is no panel '${panelId}'; there are ${known}`);
    }
    host.classList.add('di-page', 'di-live');
    host.classList.toggle('di-untitled', !titled);
    const stopScheme = keepScheme(host);
    const { tables, onRequest = [] } = panel;
    const need = (wanted: boolean): Stop =>
      this.needs.add(host, wanted ? tables : tables.filter(table => !onRequest.includes(table)));
    const stopNeeding = need(false);
    const mounted = mount(panel, this.stage, host, { fill, request: need });
    const stopKeys = listenToKeys(
      host,
      this.stage,
      () => [mounted],
      () => showKeys(mounted.element)
    );
    const made: LivePanel = {
      ...mounted,
      focus: () => focusPanel(mounted.surface, mounted.element),
      dispose: () => {
        if (!this.panels.delete(made)) return;
        stopNeeding();
        stopKeys();
        stopScheme();
        mounted.dispose();
        host.classList.remove('di-page', 'di-live', 'di-untitled');
      }
    };
    this.panels.add(made);
    return made;
  }

  /** Takes all panels out of their places. */
  dispose(): void {
    clearTimeout(this.patience);
    this.queue = [];
    this.needs.dispose();
    for (const each of this.panels) each.dispose();
    this.callbacks.clear();
  }

  private showTimeOf(cell: number | undefined): void {
    const { viewport } = this;
    const run = cellOf(this.recording, cell);
    if (run && Number.isFinite(run.stop)) {
      const room = Math.max(1e-3, (run.stop - run.start) * 0.02);
      viewport.show(run.start - room, run.stop + room);
      this.cellTime = { cell: run.execution, start: viewport.start, stop: viewport.stop };
    } else {
      viewport.fit();
      if (run) viewport.followFrom(run.start);
    }
  }

  /** Whoever has let go of a cell, in whichever way, sees its time no longer, unless they have zoomed or panned there. */
  private leaveCell(): void {
    const { cellTime, cell, viewport } = this;
    if (!cellTime || cell === cellTime.cell) return;
    this.cellTime = undefined;
    if (viewport.start === cellTime.start && viewport.stop === cellTime.stop) this.showTimeOf(cell);
  }

  private put(arrived: Arrived): void {
    if (this.held) {
      this.held.push(arrived);
      return;
    }
    this.queue.push(arrived);
    if (!this.pumping) void this.pump();
  }

  /** Reads what waits, in slices. */
  private async pump(): Promise<void> {
    this.pumping = true;
    let until = performance.now() + SLICE;
    try {
      for (let arrived = this.queue.shift(); arrived; arrived = this.queue.shift()) {
        const { queue } = this;
        try {
          const bytes = arrived.packed ? await unpacked(arrived.bytes) : arrived.bytes;
          if (queue !== this.queue) continue;
          for (const batch of decodeAll(bytes, { copy: true })) {
            this.keep(batch);
            if (performance.now() < until) continue;
            await breathe();
            until = performance.now() + SLICE;
            if (queue !== this.queue) break;
          }
        } catch (error) {
          this.failed(error);
        }
        // What was being read may belong to a recording that is no more.
        if (this.next && queue === this.queue) this.arrived(this.next, arrived.more);
      }
    } finally {
      this.pumping = false;
    }
  }

  private keep(batch: Batch): void {
    try {
      (this.next ?? this.recording).take(batch);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Damage is named here, any other error in the browser: what follows is taken all the same. */
  private failed(error: unknown): void {
    if (error instanceof BatchError) this.damaged(error.message);
    else reportError(error);
  }

  private arrived(next: Recording, more: boolean | undefined): void {
    const asFar = next.end > 0 && next.end >= this.recording.end;
    if (more === false || asFar) this.swap();
    else this.wait(more ? LONG_PATIENCE : PATIENCE);
  }

  private wait(patience = PATIENCE): void {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.swap(), patience);
  }

  private swap(): void {
    clearTimeout(this.patience);
    const { next } = this;
    // Panels that stand still do so until they may go on.
    if (!next || this.held) return;
    this.next = undefined;
    this.recognise(next);
    this.recording.replace(next);
    this.tell();
  }

  /** What a person has chosen of one session says nothing of another. */
  private recognise(recording: Recording): void {
    const session = recording.about('started');
    if (session === undefined || session === this.session) return;
    const isFirst = this.session === undefined;
    this.session = session;
    if (isFirst) return;
    this.selection.forget();
    for (const each of this.panels) each.dismiss();
    this.viewport.fit();
    // All anew, in the order in which every other page of it gives them.
    for (const names of [[], prefixesOf(recording)]) this.stage.colors.keep(names);
  }

  private tell(): void {
    for (const callback of [...this.callbacks]) callback();
  }
}

/** Throws `BatchError` if the bytes are damaged. */
async function unpacked(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    return await inflate(bytes.slice());
  } catch {
    throw new BatchError('compressed batches are damaged');
  }
}
