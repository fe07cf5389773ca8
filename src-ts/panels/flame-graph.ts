import { FlameGraphView } from './flame-graph/view';
import type { Panel } from './panel';

/** What the code of tasks did with its time: callers above, what they called below. */
export const flameGraph: Panel = {
  id: 'flame-graph',
  title: 'Flame graph',
  tables: ['stacks', 'samples', 'graph', 'attempts', 'running', 'lines'],
  overTime: false,
  create: context => new FlameGraphView(context)
};
