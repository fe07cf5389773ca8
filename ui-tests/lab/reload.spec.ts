import { cells, notebook } from './cells';
import type { Lab } from './lab';
import { Lab as Page } from './lab';
import type { Notebook } from './notebook';
import { expect, test } from './test';

/** A notebook whose kernel is busy, after 40 tasks named `early`; `file` ends it. */
async function busy(lab: Lab, path: string, file: string): Promise<Notebook> {
  lab.write(path, notebook(cells.load, cells.cluster(), cells.tasks('early', 40), cells.busy('late', file)));
  const open = await lab.open(path);
  await lab.openPanel('Functions');
  for (const cell of [0, 1, 2]) await open.run(cell);
  await open.start(3);
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(20);
  return open;
}

/** The whole history stands in a page and goes on. */
async function complete(lab: Lab, atLeast: number): Promise<void> {
  await expect.poll(() => lab.tasksOf('late'), { timeout: 90_000 }).toBeGreaterThanOrEqual(atLeast);
  expect(await lab.tasksOf('early')).toBe(40);
  const now = await lab.tasksOf('late');
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(now);
}

/** Ends the cell; the number of tasks that it ran. */
async function ended(lab: Lab, file: string): Promise<number> {
  lab.write(file, '');
  await expect.poll(() => lab.read(`${file}.done`), { timeout: 90_000 }).toBeTruthy();
  return Number(lab.read(`${file}.done`));
}

/** Each task stands in a page, once. */
async function exact(lab: Lab, late: number): Promise<void> {
  await expect.poll(() => lab.tasksOf('late')).toBe(late);
  expect(await lab.tasksOf('early')).toBe(40);
}

for (const setting of ['perCommTarget', 'perComm', 'disabled'] as const) {
  test(`a reload during a running cell brings everything back, comms over subshells ${setting}`, async ({
    lab
  }) => {
    await lab.set('@jupyterlab/apputils-extension:kernels-settings', { commsOverSubshells: setting });
    const file = `enough-${setting}`;
    await busy(lab, `reload-${setting}.ipynb`, file);
    const seen = await lab.tasksOf('late');
    await lab.reload();
    await expect(lab.panel('Functions')).toBeVisible();
    await complete(lab, seen);
    await exact(lab, await ended(lab, file));
  });
}

test('two tabs are both complete', async ({ lab, server }) => {
  const open = await busy(lab, 'tabs.ipynb', 'enough-tabs');
  const second = await Page.start(lab.page.context(), server);
  await second.open('tabs.ipynb');
  await second.openPanel('Functions');
  await complete(second, 20);
  await complete(lab, 20);
  const all = await ended(lab, 'enough-tabs');
  for (const tab of [second, lab]) await exact(tab, all);
  await second.page.close();
  await open.run(2);
  await expect.poll(() => lab.tasksOf('early')).toBe(80);
});
