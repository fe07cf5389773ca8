import { MemoryView } from './memory/view';
import type { Panel } from './panel';

/**
 * Dask's memory of workers over time, its measures stacked, with the limit above; or of several runs, aligned; or
 * the results that were held, by task name.
 */
export const memory: Panel = {
  id: 'memory',
  title: 'Memory',
  tables: ['memory', 'workers', 'attempts', 'releases', 'edges', 'graph', 'cells', 'submissions', 'spans'],
  overTime: true,
  create: context => new MemoryView(context)
};
