import type { Stop } from '@dask-insight/panels/core/recording';
import type { Selection } from '@dask-insight/panels/core/selection';
import type { Cells } from '@dask-insight/panels/hosts/live-controls';
import type { CellChoice, LivePage } from '@dask-insight/panels/hosts/live-page';
import { type ISignal, Signal } from '@lumino/signaling';

/** Stands for the latest cell where others have their execution counts. */
const LATEST = -1;

/**
 * The cells of a page and, as one more of them, the latest: once that is chosen, the page goes
 * along to each newer cell that hands tasks to Dask, until something else is chosen. A kernel
 * that is restarted begins with what it does next.
 */
export class LatestCell implements Cells {
  private readonly switchedSignal = new Signal<this, void>(this);
  private isOn = false;
  /** The cell that is shown, and when the newest began that ever was. */
  private shown: number | undefined;
  private seen = Number.NEGATIVE_INFINITY;

  constructor(private readonly page: LivePage) {
    page.onChange(() => this.goAlong());
    page.selection.subscribe(() => this.look());
  }

  get on(): boolean {
    return this.isOn;
  }

  set on(on: boolean) {
    if (on === this.isOn) return;
    this.isOn = on;
    this.seen = Number.NEGATIVE_INFINITY;
    this.goAlong();
    this.switchedSignal.emit();
  }

  /** Tells when `on` has changed. */
  get switched(): ISignal<this, void> {
    return this.switchedSignal;
  }

  get selection(): Selection {
    return this.page.selection;
  }

  get cell(): number | undefined {
    return this.isOn ? LATEST : this.page.cell;
  }

  cells(): CellChoice[] {
    const cells = this.page.cells();
    const newest = newestOf(cells);
    const latest = newest ? [{ ...newest, execution: LATEST, words: 'Latest cell' }] : [];
    return [...latest, ...cells];
  }

  showCell(execution: number | undefined): void {
    this.on = execution === LATEST;
    if (!this.on) this.page.showCell(execution);
  }

  onChange(callback: () => void): Stop {
    const stop = this.page.onChange(callback);
    this.switched.connect(callback);
    return () => {
      stop();
      this.switched.disconnect(callback);
    };
  }

  private goAlong(): void {
    const newest = this.isOn ? newestOf(this.page.cells()) : undefined;
    if (!newest || newest.start <= this.seen) return;
    this.seen = newest.start;
    this.shown = newest.execution;
    this.page.showCell(newest.execution);
  }

  private look(): void {
    if (!this.isOn || this.page.cell === this.shown) return;
    this.shown = undefined;
    // It may be on another clock.
    this.seen = Number.NEGATIVE_INFINITY;
    // Nothing to undo: nobody has chosen anything, but another session has begun.
    const { canUndo, canRedo } = this.selection;
    this.on = !canUndo && !canRedo;
  }
}

function newestOf(cells: readonly CellChoice[]): CellChoice | undefined {
  return cells.find(({ hasTasks }) => hasTasks);
}
