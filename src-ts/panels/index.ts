import { isComparisonOnly } from '../core/comparison';
import type { Recording } from '../core/recording';
import { compare } from './compare';
import { criticalPath } from './critical-path';
import { events } from './events';
import { findings } from './findings';
import { fineMetrics } from './fine-metrics';
import { flameGraph } from './flame-graph';
import { functions } from './functions';
import { memory } from './memory';
import type { Panel } from './panel';
import { progress } from './progress';
import { resources } from './resources';
import { spans } from './spans';
import { taskStream } from './task-stream';
import { timeBudget } from './time-budget';
import { transfers } from './transfers';
import { whatIf } from './what-if';
import { workers } from './workers';

/** Every panel, in the order in which a page shows them. */
export const PANELS: readonly Panel[] = [
  findings,
  timeBudget,
  taskStream,
  criticalPath,
  whatIf,
  resources,
  memory,
  flameGraph,
  fineMetrics,
  progress,
  functions,
  transfers,
  workers,
  spans,
  events,
  compare
];

/** Those that a page of one recording shows: `compare` only where something is compared, and alone if that is all. */
export function panelsFor(recording: Recording): readonly Panel[] {
  if (isComparisonOnly(recording)) return [compare];
  const isCompared = recording.table('compared_sides').rows > 0;
  return PANELS.filter(panel => panel !== compare || isCompared);
}
