import type { Panel } from './panel';
import { ResourcesView } from './resources/view';

/** CPU, tasks, network, disk, GPU, loop lag … of every process, over the time of the task stream. */
export const resources: Panel = {
  id: 'resources',
  title: 'Resources',
  tables: ['resources', 'gpus', 'workers'],
  overTime: true,
  create: context => new ResourcesView(context)
};
