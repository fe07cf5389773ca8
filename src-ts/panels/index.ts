import type { Panel } from './panel';
import { taskStream } from './task-stream';

/** Every panel, in the order in which a page shows them. */
export const PANELS: readonly Panel[] = [taskStream];
