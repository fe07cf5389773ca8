import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The plan that `python -m benchmarks.live` hands over. */
export interface Plan {
  readonly quick: boolean;
  readonly rounds: number;
  /** What is computed to tell what recording costs; see `benchmarks.overhead_run`. */
  readonly workloads: readonly string[];
}

export const plan: Plan = JSON.parse(
  process.env.MEASURE_PLAN ?? '{"quick": true, "rounds": 1, "workloads": ["trivial-2000"]}'
);

/** Leaves what was found where the caller looks for it. */
export function found(name: string, result: unknown): void {
  const folder = process.env.MEASURE_FOLDER;
  if (folder) writeFileSync(join(folder, `${name}.json`), JSON.stringify(result));
  else console.log(name, JSON.stringify(result));
}
