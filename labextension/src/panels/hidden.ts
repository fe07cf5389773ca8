import { PANELS } from '@dask-insight/panels/panels/index';
import type { Contents } from '@jupyterlab/services';
import type { IStateDB } from '@jupyterlab/statedb';
import type { JSONArray } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';
import type { PlaceKind } from '../kernels/place';
import { mergedSteps, readSteps, type Step } from './steps';

/** The panels of one place that were taken out of sight, and how they stood. */
export interface HiddenPanels {
  readonly kind: PlaceKind;
  readonly path: string;
  readonly steps: readonly Step[];
}

/** What of a place names it; a `Place` is one. */
type Named = Pick<HiddenPanels, 'kind' | 'path'>;

const KEY = 'dask-insight:hidden-panels';

/** Panels that were taken out of sight, remembered with the workspace: over reloads of the page too. */
export class Hidden {
  private readonly changedSignal = new Signal<this, void>(this);
  private list: readonly HiddenPanels[] = [];
  private touched = false;

  constructor(private readonly database: Pick<IStateDB, 'fetch' | 'save'> | null) {}

  get all(): readonly HiddenPanels[] {
    return this.list;
  }

  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  /** Takes up what the workspace remembers, unless something has been hidden meanwhile. */
  async restore(): Promise<void> {
    const saved = await this.database?.fetch(KEY);
    if (this.touched) return;
    this.list = read(saved);
    this.changedSignal.emit();
  }

  /** Panels of a place are hidden, beside those that were hidden before. */
  add({ kind, path }: Named, steps: readonly Step[]): void {
    if (steps.length === 0) return;
    const all = mergedSteps(this.find({ kind, path })?.steps ?? [], steps);
    this.change([...this.without({ kind, path }), { kind, path, steps: all }]);
  }

  /** They are in sight again. */
  remove(place: Named): void {
    const left = this.without(place);
    if (left.length !== this.list.length) this.change(left);
  }

  rename({ kind, path }: Named, next: string): void {
    const moved = this.find({ kind, path });
    if (moved) this.change([...this.without(moved), { ...moved, path: next }]);
  }

  /**
   * Keeps up with the files of notebooks and their folders, also of those that are not open: what is deleted is
   * forgotten.
   */
  follow({ fileChanged }: Pick<Contents.IManager, 'fileChanged'>): void {
    fileChanged.connect((_, { type, oldValue, newValue }) => {
      const from = oldValue?.path;
      if (!from) return;
      const to = newValue?.path;
      for (const file of this.list.filter(({ kind, path }) => kind === 'notebook' && isIn(path, from))) {
        if (type === 'delete') this.remove(file);
        else if (type === 'rename' && to) this.rename(file, to + file.path.slice(from.length));
      }
    });
  }

  private find({ kind, path }: Named): HiddenPanels | undefined {
    return this.list.find(each => each.kind === kind && each.path === path);
  }

  private without({ kind, path }: Named): HiddenPanels[] {
    return this.list.filter(each => each.kind !== kind || each.path !== path);
  }

  private change(list: readonly HiddenPanels[]): void {
    this.touched = true;
    this.list = list;
    const plain = list.map(({ kind, path, steps }) => ({
      kind,
      path,
      steps: steps.map(step => ({ ...step }))
    }));
    // Without it they are remembered as long as the page is.
    void this.database?.save(KEY, plain as unknown as JSONArray).catch(() => undefined);
    this.changedSignal.emit();
  }
}

/** Whether a file is this one, or stands in this folder. */
function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

/** What a workspace remembers; anything else in it is left out. */
function read(value: unknown): HiddenPanels[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap(each => {
    const { kind, path, steps } = (each ?? {}) as Partial<HiddenPanels>;
    const known = readSteps(steps).filter(({ panel }) => PANELS.some(({ id }) => id === panel));
    const sound = (kind === 'notebook' || kind === 'console') && typeof path === 'string';
    return sound && known.length > 0 ? [{ kind, path, steps: known }] : [];
  });
}
