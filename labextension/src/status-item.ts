import { bytes, count } from '@dask-insight/panels/core/format';
import { button } from '@dask-insight/panels/panels/element';
import type { CommandRegistry } from '@lumino/commands';
import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { ACTIONS } from './commands';
import { totalOf } from './kernels/kernel-state';
import type { Places } from './kernels/places';

/** In the status bar: what the clusters of the current notebook's kernel do. */
export class StatusItem extends Widget {
  private readonly press: HTMLButtonElement;
  private readonly switchedSignal = new Signal<this, void>(this);
  private shown = false;

  constructor(
    private readonly places: Places,
    commands: CommandRegistry
  ) {
    super();
    this.addClass('di-status');
    this.press = button('', () => void commands.execute(ACTIONS.sidebar));
    this.press.className = 'di-status-press';
    this.node.append(this.press);
    places.changed.connect(this.renew, this);
    this.renew();
  }

  /** Whether there is anything to say. */
  get active(): boolean {
    return this.shown;
  }

  /** Tells when `active` has changed. */
  get switched(): ISignal<this, void> {
    return this.switchedSignal;
  }

  private renew(): void {
    const place = this.places.current;
    const state = place?.live?.loaded ? place.live.state : undefined;
    const some = state !== undefined && (state.clusters.length > 0 || state.local !== undefined);
    if (state && some) {
      const { workers, threads, memory, memoryLimit, tasks } = totalOf(state);
      const memoryWords = memoryLimit ? `${bytes(memory)} of ${bytes(memoryLimit)}` : bytes(memory);
      const use = workers > 0 ? `${count(threads)} threads, ${memoryWords}, ` : '';
      const erred = tasks.erred > 0 ? `, ${count(tasks.erred)} erred` : '';
      this.press.textContent = `Dask: ${use}${count(tasks.done)} of ${count(tasks.total)} tasks${erred}`;
      this.press.title = `Dask in the kernel of ${place?.name}. Show Dask Insight`;
    }
    if (some === this.shown) return;
    this.shown = some;
    this.switchedSignal.emit();
  }
}
