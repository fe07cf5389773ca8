import { COMPARED } from '../core/comparison';
import { CompareView } from './compare/view';
import type { Panel } from './panel';

/** What differs between recorded runs. */
export const compare: Panel = {
  id: 'compare',
  title: 'Compare',
  tables: COMPARED,
  overTime: false,
  create: context => new CompareView(context)
};
