import type { Palette } from '@dask-insight/panels/draw/palette';
import { Notification } from '@jupyterlab/apputils';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { type ISignal, Signal } from '@lumino/signaling';
import { properties } from '../schema/plugin.json';
import { readSteps, type Step } from './panels/steps';

/** What the kernel has to know, and by what name. */
const FOR_KERNEL = {
  rate: 'rate',
  history: 'history',
  resources: 'resources',
  stacks: 'stacks',
  reportSize: 'report_bytes'
} as const;

type Key = keyof typeof FOR_KERNEL;

/** The settings of a plugin. A person is told where they cannot be read: everything else works without. */
export async function settingsOf(
  registry: ISettingRegistry | null,
  plugin: string
): Promise<Settings | undefined> {
  try {
    const stored = await registry?.load(plugin);
    return stored && new Settings(stored);
  } catch (reason) {
    // Of settings that are not as they should be there is a list of what is wrong.
    const problems = [reason].flat() as { instancePath?: string; message?: string }[];
    const words = problems.map(({ instancePath = '', message }) => `${instancePath} ${message}`.trim());
    Notification.warning(
      `Dask Insight goes on without its settings, which cannot be read: ${words.join('; ')}`
    );
    return undefined;
  }
}

/** What a person can set; the defaults stand in `schema/plugin.json`. */
export class Settings {
  private readonly changedSignal = new Signal<this, void>(this);
  /** What is on its way to the server. */
  private saving: readonly Step[] | undefined;

  /** Settings of which the kernel may have heard: it has to hear too when one is a default again. */
  private readonly told = new Set<Key>();

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

  /** What somebody has set that the kernel has to know: of the rest it, or Dask's own settings, know best. */
  get forKernel(): Readonly<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    for (const key of Object.keys(FOR_KERNEL) as Key[]) {
      const value = this.stored.composite[key];
      // A default that is not ours was set by whoever runs the server.
      if (key in this.stored.user || value !== properties[key].default) this.told.add(key);
      if (this.told.has(key)) values[FOR_KERNEL[key]] = key === 'reportSize' ? Number(value) * 1e6 : value;
    }
    return values;
  }
}
