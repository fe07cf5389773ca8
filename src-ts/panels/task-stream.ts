import type { Panel } from './panel';
import { TaskStreamView } from './task-stream/view';

/** A lane a thread, tasks coloured by name: what ran where, and when. */
export const taskStream: Panel = {
  id: 'task-stream',
  title: 'Task stream',
  tables: [
    'attempts',
    'running',
    'executions',
    'graph',
    'phases',
    'collections',
    'workers',
    'errors',
    'spans',
    'critical',
    'functions',
    'lines'
  ],
  onRequest: ['critical'],
  overTime: true,
  create: context => new TaskStreamView(context)
};
