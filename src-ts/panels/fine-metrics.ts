import { FineMetricsView } from './fine-metrics/view';
import type { Panel } from './panel';

/** What workers did with their time and bytes, over time, by function and by activity. */
export const fineMetrics: Panel = {
  id: 'fine-metrics',
  title: 'Fine metrics',
  tables: ['metrics', 'clocks'],
  overTime: true,
  create: context => new FineMetricsView(context)
};
