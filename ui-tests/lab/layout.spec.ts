import type { Locator } from '@playwright/test';
import { cells, notebook } from './cells';
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
