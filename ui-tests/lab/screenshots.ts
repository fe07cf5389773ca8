import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lab } from './lab';
import type { Notebook } from './notebook';
import { expect, test } from './test';

/** The README's pictures of JupyterLab: the guided notebook as it runs, light and dark. */
const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const GUIDE = JSON.parse(readFileSync(join(docs, 'guide.ipynb'), 'utf8'));

/** Where a cell of the guide stands. */
function cellOf(id: string): number {
  return GUIDE.cells.findIndex((cell: { id: string }) => cell.id === id);
}

const THEMES = { light: 'JupyterLab Light', dark: 'JupyterLab Dark' };

async function inBothThemes(lab: Lab, name: string, settled: () => Promise<void>): Promise<void> {
  for (const [scheme, theme] of Object.entries(THEMES)) {
    await lab.execute('apputils:change-theme', { theme });
    await settled();
    await expect(lab.page.locator('#jupyterlab-splash')).toHaveCount(0);
    await lab.page.screenshot({ path: join(docs, `${name}-${scheme}.png`) });
  }
  await lab.execute('apputils:change-theme', { theme: THEMES.light });
}

/** Runs cells of the guide up to one of them. */
async function through(guide: Notebook, first: string, last: string): Promise<void> {
  for (let cell = cellOf(first); cell <= cellOf(last); cell++) {
    if (GUIDE.cells[cell].cell_type === 'code') await guide.run(cell);
  }
}

test('the guide in JupyterLab', async ({ lab }) => {
  test.setTimeout(600_000);
  const { page } = lab;
  await page.setViewportSize({ width: 1440, height: 900 });
  lab.write('guide.ipynb', GUIDE);
  const guide = await lab.open('guide.ipynb');
  await through(guide, 'load', 'cluster');
  const sidebar = await lab.sidebar();
  await sidebar.getByRole('button', { name: 'Default layout' }).click();
  await expect(lab.panel('Task stream')).toBeVisible();

  const compute = cellOf('spectrum');
  await guide.start(compute);
  await page.mouse.move(700, 5);
  await expect.poll(() => done(lab), { timeout: 120_000 }).toBeGreaterThan(200);
  await inBothThemes(lab, 'lab', async () => {
    const before = await done(lab);
    await expect.poll(() => done(lab)).toBeGreaterThan(before);
  });
  await guide.ended(compute, 240_000);

  await lab.execute('dask-insight:toggle-panels');
  await lab.execute('application:toggle-left-area');
  await through(guide, 'functions', 'models');
  const report = guide.output(cellOf('models'));
  await expect(lab.page.locator('#jp-main-statusbar')).toContainText(/([\d,]+) of \1 tasks/);
  await inBothThemes(lab, 'lab-dprofile', async () => {
    await guide.cell(cellOf('models')).evaluate(cell => cell.scrollIntoView({ block: 'start' }));
    await expect(report.getByRole('region', { name: 'Task stream' })).toBeVisible();
  });
  await through(guide, 'summary', 'end');
});

/** Tasks done, as the sidebar says. */
async function done(lab: Lab): Promise<number> {
  const words = await lab.page.getByRole('region', { name: 'Dask Insight' }).innerText();
  return Number(/Tasks\s+([\d,]+) of/.exec(words)?.[1].replaceAll(',', '') ?? 0);
}
