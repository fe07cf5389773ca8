import type { Panel } from './panel';
import { WhatIfView } from './what-if/view';

/** How much faster the run could be: its bounds, and what a simulated cluster says of some changes. */
export const whatIf: Panel = {
  id: 'what-if',
  title: 'What if',
  tables: ['what_if', 'attempts'],
  overTime: false,
  isWhole: true,
  create: context => new WhatIfView(context)
};
