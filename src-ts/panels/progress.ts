import type { Panel } from './panel';
import { ProgressView } from './progress/view';

/** How far the tasks of each name are, and how long the rest will take at least. */
export const progress: Panel = {
  id: 'progress',
  title: 'Progress',
  tables: ['graph', 'attempts', 'errors', 'running', 'submissions', 'workers', 'phases', 'about'],
  overTime: false,
  create: context => new ProgressView(context)
};
