import type { Palette } from '@dask-insight/panels/draw/palette';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { type ISignal, Signal } from '@lumino/signaling';
import { readSteps, type Step } from './panels/steps';

/** What a person can set; the defaults stand in `schema/plugin.json`. */
export class Settings {
  private readonly changedSignal = new Signal<this, void>(this);

  constructor(private readonly stored: ISettingRegistry.ISettings) {
    stored.changed.connect(() => this.changedSignal.emit());
  }

  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  get layout(): readonly Step[] {
    return readSteps(this.stored.composite.layout);
  }

  /** Makes a layout the default one. */
  async saveLayout(steps: readonly Step[]): Promise<void> {
    await this.stored.set(
      'layout',
      steps.map(step => ({ ...step }))
    );
  }

  get palette(): Palette {
    return this.stored.composite.palette === 'colour-blind' ? 'colour-blind' : 'standard';
  }

  /** What the kernel has to know. */
  get forKernel(): Readonly<Record<string, unknown>> {
    const { rate, history, reportSize } = this.stored.composite;
    return { rate, history, report_bytes: typeof reportSize === 'number' ? reportSize * 1e6 : undefined };
  }
}
