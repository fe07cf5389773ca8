import type { Locator } from '@playwright/test';
import { cells, notebook } from './cells';
import { Lab } from './lab';
import { expect, test } from './test';

async function box(of: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const found = await of.boundingBox();
  if (!found) throw new Error('not in sight');
  return found;
}

test('a panel is dragged from the sidebar to the right of the notebook, and stands there after a reload', async ({
  lab
}) => {
  lab.write('drag.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40)));
  const drag = await lab.open('drag.ipynb');
  for (const cell of [0, 1, 2]) await drag.run(cell);
  await lab.drag(lab.entry(await lab.sidebar(), 'Functions'), drag.element, 0.93, 0.5);
  await expect(lab.panel('Functions')).toBeVisible();
  await expect.poll(() => lab.tasksOf('early')).toBe(40);
  const left = await box(drag.element);
  const before = await box(lab.panel('Functions'));
  expect(before.x).toBeGreaterThanOrEqual(left.x + left.width);

  await lab.reload();
  await expect(lab.panel('Functions')).toBeVisible();
  await expect.poll(() => lab.tasksOf('early')).toBe(40);
  const after = await box(lab.panel('Functions'));
  expect(Math.abs(after.x - before.x)).toBeLessThan(40);
  expect(Math.abs(after.width - before.width)).toBeLessThan(40);
});

test('the default layout is one action; panels are hidden, shown, and saved as they stand', async ({
  lab
}) => {
  const asks = `%%dprofile --static --open memory\n${cells.tasks('late', 30)}`;
  lab.write('layout.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40), asks));
  const layout = await lab.open('layout.ipynb');
  for (const cell of [0, 1, 2]) await layout.run(cell);
  const sidebar = await lab.sidebar();
  const action = (name: string): Promise<void> => sidebar.getByRole('button', { name, exact: true }).click();
  const panels = lab.page.locator('.di-panel');

  await action('Default layout');
  await expect(lab.panel('Task stream')).toBeVisible();
  const many = await panels.count();
  expect(many).toBeGreaterThan(2);
  const stream = await box(lab.panel('Task stream'));
  // A cell that asks for a panel brings it before the other tabs, and keeps the keyboard.
  await layout.run(3);
  await expect(lab.panel('Memory')).toBeVisible();
  await expect(layout.cell(3)).toHaveClass(/jp-mod-active/);
  expect(await layout.element.evaluate(each => each.contains(document.activeElement))).toBe(true);

  await action('Hide all');
  await expect(panels).toHaveCount(0);
  await expect.poll(() => lab.remembered('dask-insight:hidden-panels')).toHaveLength(1);
  await lab.reload();
  await lab.openPanel('Progress');
  await action('Hide all');
  await action('Show all');
  await expect(panels).toHaveCount(many);
  await expect(lab.panel('Memory')).toBeVisible();
  expect(Math.abs((await box(lab.panel('Task stream'))).x - stream.x)).toBeLessThan(40);

  await lab.closePanel('Task stream');
  await action('Save layout');
  await action('Hide all');
  await action('Default layout');
  await expect(panels).toHaveCount(many - 1);
  await expect(lab.panel('Task stream')).toHaveCount(0);
  await lab.set('dask-insight:plugin', {});
});

test('settings of another release are no hindrance', async ({ lab, browser }) => {
  const layout = [{ panel: 'panel-of-tomorrow', colour: 'red' }, { panel: 'memory' }];
  lab.write('tomorrow.ipynb', notebook(cells.load));
  await lab.keep('dask-insight:plugin', { layout, settingOfTomorrow: true });
  const context = await browser.newContext();
  try {
    const tomorrow = await Lab.start(context, lab.server, 'lab/workspaces/tomorrow');
    await tomorrow.open('tomorrow.ipynb');
    const sidebar = await tomorrow.sidebar();
    await sidebar.getByRole('button', { name: 'Default layout', exact: true }).click();
    await expect(tomorrow.panel('Memory')).toBeVisible();
    await expect(tomorrow.page.locator('.di-panel')).toHaveCount(1);
    await tomorrow.expectClean();
  } finally {
    await context.close();
    await lab.keep('dask-insight:plugin', {});
  }
});

test('panels are in the launcher, and the state is in the status bar', async ({ lab }) => {
  lab.write('launcher.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40)));
  const launcher = await lab.open('launcher.ipynb');
  for (const cell of [0, 1, 2]) await launcher.run(cell);
  await expect(lab.page.locator('#jp-main-statusbar')).toContainText('40 of 40 tasks');
  await lab.execute('launcher:create');
  await lab.page.locator('.jp-LauncherCard').filter({ hasText: 'Workers', visible: true }).click();
  await expect(lab.panel('Workers')).toBeVisible();
});

test('a card of the launcher brings the sidebar where no notebook or console is open', async ({ lab }) => {
  const sidebar = await lab.sidebar();
  await lab.execute('application:toggle-left-area');
  await expect(sidebar).toBeHidden();
  await lab.execute('launcher:create');
  await lab.page.locator('.jp-LauncherCard').filter({ hasText: 'Workers', visible: true }).click();
  await expect(sidebar).toContainText('No notebook or console is open.');
});

test('a docked task stream fills its height: lanes grow where there is room', async ({ lab }) => {
  lab.write('fill.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40)));
  const fill = await lab.open('fill.ipynb');
  for (const cell of [0, 1, 2]) await fill.run(cell);
  await lab.drag(lab.entry(await lab.sidebar(), 'Task stream'), fill.element, 0.93, 0.5);
  const panel = lab.panel('Task stream');
  await expect(panel.locator('.di-surface')).toBeVisible();
  const room = lab.page.locator('.di-panel-body[data-panel="task-stream"] > .di-room');
  const rest = async (): Promise<number> => {
    const [around, drawing] = [await box(room), await box(panel.locator('.di-surface'))];
    return Math.abs(around.y + around.height - (drawing.y + drawing.height));
  };
  await expect.poll(rest).toBeLessThan(40);
  expect((await box(panel.locator('.di-surface'))).height).toBeGreaterThan(300);
  const whole = lab.page.viewportSize();
  await lab.page.setViewportSize({ width: 1280, height: 620 });
  await expect.poll(rest).toBeLessThan(40);
  // The next tests share this page.
  if (whole) await lab.page.setViewportSize(whole);
});
