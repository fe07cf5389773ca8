import type { Lab } from '../../ui-tests/lab/lab';
import { LabServer } from '../../ui-tests/lab/server';
import { test as base, expect } from '../../ui-tests/lab/test';
import { PANELS } from './panels';

export { expect };

/** Four panels in two rows and two columns, so that all of them show. */
const LAYOUT = [
  { panel: 'task-stream', beside: 'notebook', where: 'right', share: 0.72 },
  { panel: 'flame-graph', beside: 'task-stream', where: 'right', share: 0.5 },
  { panel: 'resources', beside: 'task-stream', where: 'bottom', share: 0.5 },
  { panel: 'memory', beside: 'flame-graph', where: 'bottom', share: 0.5 }
];

/** The tests' JupyterLab with a default layout of four panels. */
export const test = base.extend<object, { server: LabServer }>({
  server: [
    async ({}, use) => {
      const server = await LabServer.start({ 'dask-insight:plugin': { layout: LAYOUT } });
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 150_000 }
  ]
});

/** Opens the four panels of the current notebook, and looks that all of them show. */
export async function openFour(lab: Lab): Promise<void> {
  await lab.execute('dask-insight:open-layout');
  for (const panel of PANELS) await expect(lab.panel(panel)).toBeVisible();
}
