import type { Recording } from './recording';
import type { TableName } from './schema';

interface Made<T> {
  readonly state: string;
  readonly value: T;
}

/** What is made of some tables of a recording: kept until rows of them arrive or are replaced. */
export function madeFrom<T>(
  tables: readonly TableName[],
  make: (recording: Recording) => T
): (recording: Recording) => T {
  const kept = new WeakMap<Recording, Made<T>>();
  return recording => {
    const state = recording.state(...tables);
    let made = kept.get(recording);
    if (made?.state !== state) {
      made = { state, value: make(recording) };
      kept.set(recording, made);
    }
    return made.value;
  };
}
