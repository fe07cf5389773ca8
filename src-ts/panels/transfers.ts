import type { Panel } from './panel';
import { TransfersView } from './transfers/view';

/** Who sent what to whom: workers as a square of cells, and task names by what was carried of them. */
export const transfers: Panel = {
  id: 'transfers',
  title: 'Transfers',
  tables: ['transfers', 'transferred', 'workers', 'graph', 'attempts', 'metrics'],
  overTime: false,
  create: context => new TransfersView(context)
};
