import type { Palette } from '@dask-insight/panels/draw/palette';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { type ISignal, Signal } from '@lumino/signaling';
import { readSteps, type Step } from './panels/steps';

/** What a person can set; the defaults stand in `schema/plugin.json`. */
export class Settings {
  private readonly changedSignal = new Signal<this, void>(this);
  /** What is on its way to the server. */
  private saving: readonly Step[] | undefined;

  constructor(private readonly stored: ISettingRegistry.ISettings) {
    stored.changed.connect(() => this.changedSignal.emit());
  }

  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  get layout(): readonly Step[] {
    return this.saving ?? readSteps(this.stored.composite.layout);
  }

  /** Makes a layout the default one, at once. */
  async saveLayout(steps: readonly Step[]): Promise<void> {
    this.saving = steps;
    try {
      await this.stored.set(
        'layout',
        steps.map(step => ({ ...step }))
      );
    } finally {
      if (this.saving === steps) this.saving = undefined;
    }
  }

  get palette(): Palette {
    return this.stored.composite.palette === 'colour-blind' ? 'colour-blind' : 'standard';
  }

  /** What the kernel has to know. */
  get forKernel(): Readonly<Record<string, unknown>> {
    const { rate, history, resources, stacks, reportSize } = this.stored.composite;
    const report_bytes = typeof reportSize === 'number' ? reportSize * 1e6 : undefined;
    return { rate, history, resources, stacks, report_bytes };
  }
}
