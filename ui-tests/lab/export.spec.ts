import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { notebook } from './cells';

const RECORD = `%%dprofile exported
import dask
def exported(number):
    return sum(range(number * 1000))
dask.compute(*[dask.delayed(exported)(number) for number in range(20)], scheduler="threads");`;

test('what nbconvert makes of a notebook shows the report, offline and in its colours', async ({
  browser
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'dask-insight-export-'));
  try {
    writeFileSync(join(folder, 'run.ipynb'), JSON.stringify(notebook('%load_ext dask_insight', RECORD)));
    const python = process.env.PYTHON ?? 'python';
    const options = ['--execute', '--to', 'html', '--theme', 'dark'];
    execFileSync(python, ['-m', 'jupyter', 'nbconvert', ...options, 'run.ipynb'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 120_000
    });
    // What stands for a person's choice of colours would hide that of the page.
    const context = await browser.newContext({ offline: true, colorScheme: null });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, 'run.html')).href);
    await expect(page.getByRole('table').filter({ hasText: 'exported' }).first()).toBeVisible();
    const report = page.frameLocator('iframe').first();
    const stream = report.getByRole('region', { name: 'Task stream' });
    await stream.scrollIntoViewIfNeeded();
    await expect(stream).toBeVisible();
    await expect(report.locator('body')).toHaveCSS('background-color', 'rgb(22, 24, 28)');
    await stream.locator('.di-legend-name').filter({ hasText: 'exported' }).click();
    await expect(stream.locator('.di-chip')).toHaveCount(1);
    await context.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
