import type { Panel } from './panel';
import { TimeBudgetView } from './time-budget/view';

/** Where the time of all worker threads went: the whole as a bar, over time, and by what it was for. */
export const timeBudget: Panel = {
  id: 'time-budget',
  title: 'Time budget',
  tables: [
    'budget',
    'attempts',
    'executions',
    'phases',
    'workers',
    'graph',
    'submissions',
    'spans',
    'cells',
    'lines'
  ],
  overTime: true,
  create: context => new TimeBudgetView(context)
};
