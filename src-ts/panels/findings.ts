import { FindingsView } from './findings/view';
import type { Panel } from './panel';

/** What cost time or puts the run at risk, ranked, with what can be done about it. */
export const findings: Panel = {
  id: 'findings',
  title: 'Findings',
  tables: ['findings', 'attempts', 'workers'],
  overTime: false,
  isWhole: true,
  create: context => new FindingsView(context)
};
