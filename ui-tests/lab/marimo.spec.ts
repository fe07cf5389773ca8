import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { freePort } from './server';

const PYTHON = process.env.PYTHON ?? 'python';
const repository = fileURLToPath(new URL('../..', import.meta.url));

/** A widget that watches, a button that computes for some seconds, and what Python hears of the selection. */
const APP = `
import marimo

app = marimo.App()

@app.cell
def _():
    import time
    import dask_insight
    import marimo as mo
    from distributed import Client

    client = Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
    widget = mo.ui.anywidget(dask_insight.watch(panel="task-stream"))
    go = mo.ui.run_button(label="compute")
    mo.vstack([go, widget])
    return client, go, mo, time, widget

@app.cell
def _(client, go, mo, time):
    def inc(number):
        time.sleep(0.02)
        return number + 1

    if go.value:
        for _ in range(10):
            client.gather(client.map(inc, range(50), pure=False))
    mo.md("computed" if go.value else "nothing yet")
    return

@app.cell
def _(mo, widget):
    mo.md(f"selected: {widget.value.get('names')}")
    return
`;

// marimo stays light where the system is dark.
test.use({ colorScheme: 'dark' });

let server: ChildProcess | undefined;
let folder = '';

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dask-insight-marimo-'));
  writeFileSync(join(folder, 'app.py'), APP);
});

test.afterAll(() => {
  server?.kill('SIGKILL');
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test('a widget in marimo is live while a cell runs, and Python hears what is selected', async ({ page }) => {
  const port = await freePort();
  const place = ['--headless', '--no-token', '--port', String(port)];
  const path = [repository, process.env.PYTHONPATH].filter(Boolean).join(':');
  server = spawn(PYTHON, ['-m', 'marimo', 'run', ...place, 'app.py'], {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, PYTHONPATH: path }
  });
  const address = `http://localhost:${port}`;
  await expect
    .poll(() =>
      fetch(address).then(
        ({ ok }) => ok,
        () => false
      )
    )
    .toBe(true);
  await page.goto(address);

  const words = page.locator('.di-widget-words');
  await expect(words).toContainText('2 threads');
  await expect(page.locator('.di-widget')).toHaveCSS('color-scheme', 'light');
  await page.getByRole('button', { name: 'compute' }).click();
  await expect(words).toContainText(/[1-9]\d* of [\d,]+ tasks/);
  await expect(page.getByText('computed')).toHaveCount(0);
  await expect(words).toContainText('500 of 500 tasks');
  await expect(page.getByText('computed')).toBeVisible();

  await page.locator('.di-legend-name').filter({ hasText: 'inc' }).click();
  await expect(page.getByText("selected: ['inc']")).toBeVisible();
});
