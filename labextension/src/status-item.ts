import { button } from '@dask-insight/panels/panels/element';
import type { CommandRegistry } from '@lumino/commands';
import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { ACTIONS } from './commands';
import type { Places } from './kernels/places';
import { stateOf } from './kernels/situation';
import { statusWords } from './status-words';

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
    const words = statusWords(stateOf(place));
    if (words) {
      this.press.textContent = words;
      this.press.title = `Dask in the kernel of ${place?.name}. Show Dask Insight`;
    }
    if (this.shown === (words !== '')) return;
    this.shown = words !== '';
    this.switchedSignal.emit();
  }
}
