import { append } from './append';
import type { Lane } from './lane';

/** An entry of a lane, as `Lane.find` takes it. */
export interface Entry {
  readonly lane: Lane;
  readonly start: number;
  readonly row: number;
  readonly running: boolean;
}

/** Entries whose task has no name yet, by task. */
export class Nameless {
  private readonly entries = new Map<number, Entry[]>();

  get size(): number {
    return this.entries.size;
  }

  add(task: number, entry: Entry): void {
    append(this.entries, task, entry);
  }

  /** The entries of a task, which are then known here no longer. */
  take(task: number): readonly Entry[] {
    const found = this.entries.get(task);
    if (!found) return [];
    this.entries.delete(task);
    return found;
  }

  clear(): void {
    this.entries.clear();
  }
}
