import type { Stop } from '../../core/recording';

/** What a person can see and set from Python; `dask_insight/hosts/widget/widget.py` describes each. */
export interface Traits {
  /** Seconds since `_started`. */
  time_range: readonly [start: number, stop: number] | null;
  names: readonly string[] | null;
  workers: readonly string[] | null;
  spans: readonly string[] | null;
  /** Ids of attempts. */
  runs: readonly number[] | null;
  /** Execution counts of notebook cells. */
  cells: readonly number[] | null;
  /** Lines of code that started computations, as `file:line`. */
  lines: readonly string[] | null;
  /** Id of the one panel that is shown; null: the overview. */
  panel: string | null;
  /** Where the recording's seconds begin, seconds since the epoch; 0 while nobody knows. */
  readonly _started: number;
  /** Which widget this is, among all of a page. */
  readonly _key: string;
  /** False for a recording that has ended. */
  readonly _live: boolean;
  /** What the recording is called, and what it says in one sentence. */
  readonly _title: string;
  readonly _verdict: string;
  readonly _version: string;
  readonly _css: string;
}

type Change = 'comm_live_update' | `change:${keyof Traits}`;

/** The part of anywidget's model that is used here. */
export interface Model {
  get<K extends keyof Traits>(name: K): Traits[K];
  set<K extends keyof Traits>(name: K, value: Traits[K]): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: 'msg:custom', callback: (content: unknown, buffers: DataView[]) => void): void;
  /** ipywidgets tells so when the way to the kernel has ended, as by a restart, or is there again. */
  on(event: Change, callback: () => void): void;
  off(event: 'msg:custom', callback: (content: unknown, buffers: DataView[]) => void): void;
  off(event: Change, callback: () => void): void;
}

/** Calls back at each change until it is stopped. */
export function listen(model: Model, event: Change, callback: () => void): Stop {
  model.on(event, callback);
  return () => model.off(event, callback);
}
