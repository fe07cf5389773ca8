import { cells, notebook } from './cells';
import { Lab } from './lab';
import { expect, test } from './test';

test('panels live in Notebook 7, below the notebook', async ({ lab, browser }) => {
  lab.write('classic.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40)));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const seven = await Lab.start(context, lab.server, 'notebooks/classic.ipynb');
  const classic = await seven.notebook('classic.ipynb');
  for (const cell of [0, 1, 2]) await classic.run(cell);
  const { page } = seven;
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+C');
  await page.keyboard.type('dask insight functions');
  await expect(page.locator('.lm-CommandPalette-item').first()).toContainText('Functions');
  await page.keyboard.press('Enter');
  await expect(seven.panel('Functions')).toBeVisible();
  await expect.poll(() => seven.tasksOf('early')).toBe(40);
  await seven.expectClean();
  await context.close();
});
