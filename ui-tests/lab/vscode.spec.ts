import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cells } from './cells';
import { expect, test } from './test';
import { Webview } from './webview/webview';

// Chromium takes a page that a test serves for one of the internet.
test.use({ permissions: ['local-network-access'] });

const RECORD = `
import dask_insight
${cells.cluster()}
def inc(number):
    return number + 1
def double(number):
    return 2 * number
with dask_insight.record(name="tried") as run:
    client.gather(client.map(double, client.map(inc, range(40))))
widget = run.widget()
widget`;

test('a recording in VS Code; Python and the panels know what is selected', async ({ context, server }) => {
  const view = await Webview.open(context, server, 'vscode-dark');
  expect(await view.run(RECORD)).toBe('ok');
  const widget = view.output(0).locator('.di-widget');
  await expect(widget.locator('.di-widget-words')).toContainText('on 2 threads');
  await expect(widget).toHaveCSS('background-color', 'rgb(31, 31, 31)');
  await expect(widget).toHaveCSS('color-scheme', 'dark');

  const stream = widget.getByRole('region', { name: 'Task stream' });
  await stream.locator('.di-legend-name').filter({ hasText: 'inc' }).click();
  const answers = view.page.locator('.output').last();
  await expect(async () => {
    await view.run('print(widget.names, len(widget.selected_tasks()))');
    await expect(answers).toHaveText("['inc'] 40\n", { timeout: 2000 });
  }).toPass();

  expect(await view.run('widget.names = None\nwidget.panel = "functions"')).toBe('ok');
  await expect(widget.getByRole('region', { name: 'Functions' })).toBeVisible();
  await expect(widget.locator('.di-chip')).toHaveCount(0);
});

test('what Dask does right now in VS Code, while the cell runs that has it done', async ({
  context,
  server
}) => {
  const view = await Webview.open(context, server, 'vscode-light');
  await view.run(cells.cluster());
  await view.run('import dask_insight\ndask_insight.watch(panel="task-stream")');
  const widget = view.output(1).locator('.di-widget');
  const words = widget.locator('.di-widget-words');
  await expect(words).toContainText('1 worker, 2 threads');
  await expect(widget).toHaveCSS('color-scheme', 'light');

  const enough = join(server.folder, 'vscode-enough');
  const ended = view.run(cells.busy('late', enough));
  await expect(widget.locator('.di-legend-name')).toHaveText(/late/);
  await expect(words).toContainText(/[1-9]\d* of [\d,]+ tasks/);
  await expect(view.output(2)).toBeEmpty();
  writeFileSync(enough, '');
  expect(await ended).toBe('ok');
  await expect(view.output(2)).toHaveText('enough of late\n');
});
