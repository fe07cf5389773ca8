import { CriticalPathView } from './critical-path/view';
import type { Panel } from './panel';

/** What kept the run from ending sooner, step by step. */
export const criticalPath: Panel = {
  id: 'critical-path',
  title: 'Critical path',
  tables: ['critical', 'graph', 'attempts', 'workers'],
  overTime: true,
  create: context => new CriticalPathView(context)
};
