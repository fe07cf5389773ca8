import { flameGraph } from './flame-graph';
import { memory } from './memory';
import type { Panel } from './panel';
import { resources } from './resources';
import { taskStream } from './task-stream';

/** Every panel, in the order in which a page shows them. */
export const PANELS: readonly Panel[] = [taskStream, resources, memory, flameGraph];
