import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from '@playwright/test';
import { cells, notebook } from './cells';
import { Lab } from './lab';
import { expect, test } from './test';

/** Forty tasks each of two names. */
const RECORD = `
import dask_insight
${cells.cluster()}
def inc(number):
    return number + 1
def double(number):
    return 2 * number
with dask_insight.record(name="tried") as run:
    client.gather(client.map(double, client.map(inc, range(40))))
`;

const widgetIn = (output: Locator): Locator => output.locator('.di-widget');
const panelIn = (widget: Locator, name: string): Locator => widget.getByRole('region', { name });
const wordsIn = (widget: Locator): Locator => widget.locator('.di-widget-words');

test('a recording in the output of a cell; Python and the panels know what is selected', async ({ lab }) => {
  lab.write(
    'widget.ipynb',
    notebook(
      RECORD,
      'w = run.widget()\nw',
      'print(w.names, len(w.selected_tasks()))',
      'w.names = None\nw.panel = "functions"'
    )
  );
  const book = await lab.open('widget.ipynb');
  await book.run(0);
  await book.run(1);
  const widget = widgetIn(book.output(1));
  await expect(wordsIn(widget)).toContainText('on 2 threads');
  await expect(panelIn(widget, 'Time budget')).toBeVisible();
  const stream = panelIn(widget, 'Task stream');
  await stream.scrollIntoViewIfNeeded();
  await stream.locator('.di-legend-name').filter({ hasText: 'inc' }).click();
  await expect(panelIn(widget, 'Time budget').locator('.di-chip')).toHaveText(/inc/);
  await expect(async () => {
    await book.run(2);
    await expect(book.output(2)).toContainText("['inc'] 40", { timeout: 2000 });
  }).toPass();

  await book.run(3);
  await expect(panelIn(widget, 'Functions')).toBeVisible();
  await expect(widget.locator('.di-chip')).toHaveCount(0);
  await expect(panelIn(widget, 'Task stream')).toHaveCount(0);

  await book.save();
  const saved = readFileSync(join(lab.server.notebooks, 'widget.ipynb'), 'utf8');
  expect(saved).toContain('Run this cell again to see them');
  expect(saved.length).toBeLessThan(20_000);

  // A kernel that has begun anew knows nothing of it.
  await book.close();
  await lab.page.evaluate(() => window.jupyterapp.serviceManager.sessions.shutdownAll());
  const again = await lab.open('widget.ipynb');
  await expect(again.output(1)).toContainText('Run this cell again to see them');
  // ipywidgets says so in the console as well.
  expect(lab.problems.filter(each => !each.startsWith('Error: widget model not found'))).toEqual([]);
  lab.problems.length = 0;
});

test('what Dask does right now, while the cell runs that has it done', async ({ lab }) => {
  lab.write(
    'watch.ipynb',
    notebook(
      cells.cluster(),
      'import dask_insight\ndask_insight.watch()',
      cells.busy('late', 'watch-enough'),
      'dask_insight.watch(panel="task-stream")'
    )
  );
  const book = await lab.open('watch.ipynb');
  await book.run(0);
  await book.run(1);
  const widget = widgetIn(book.output(1));
  await expect(wordsIn(widget)).toContainText('1 worker, 2 threads');
  await book.start(2);
  const done = async (): Promise<number> => {
    const [, figure = '0'] = /([\d,]+) of/.exec(await wordsIn(widget).innerText()) ?? [];
    return Number(figure.replaceAll(',', ''));
  };
  await expect.poll(done).toBeGreaterThan(20);
  const before = await done();
  await expect.poll(done).toBeGreaterThan(before);
  const stream = panelIn(widget, 'Task stream');
  await stream.scrollIntoViewIfNeeded();
  await expect(stream.locator('.di-legend-name')).toHaveText(/late/);
  await expect(book.prompt(2)).toHaveText('[*]:');
  lab.write('watch-enough', '');
  await book.ended(2);
  await expect(book.output(2)).toHaveText(/^enough of late\s*$/);

  await book.run(3);
  await expect(
    panelIn(widgetIn(book.output(3)), 'Task stream')
      .locator('canvas')
      .first()
  ).toBeVisible();
});

test('the card of a task that still runs says where in its code it was seen last', async ({ lab }) => {
  lab.write(
    'seen.ipynb',
    notebook(
      cells.cluster(),
      'import dask_insight\ndask_insight.watch(panel="task-stream")',
      `
import os
def search(name):
    while not os.path.exists(name):
        sum(range(500))
def stuck(name):
    search(name)
future = client.submit(stuck, os.path.abspath("seen-enough"))`
    )
  );
  const book = await lab.open('seen.ipynb');
  await book.run(0);
  await book.run(1);
  await book.run(2);
  const stream = panelIn(widgetIn(book.output(1)), 'Task stream');
  const picture = stream.locator('.di-surface');
  const card = lab.page.locator('.di-card:not([hidden])');
  await expect(stream.locator('.di-legend-name')).toHaveText(/stuck/);
  await expect(async () => {
    await picture.scrollIntoViewIfNeeded();
    const { x, y, width } = (await picture.boundingBox()) as { x: number; y: number; width: number };
    await lab.page.mouse.move(x, y + 10);
    await lab.page.mouse.move(x + 0.9 * width, y + 10);
    await expect(card).toContainText(/Seen .* ago/, { timeout: 2000 });
  }).toPass();
  await lab.page.mouse.down();
  await lab.page.mouse.up();
  await expect(card.locator('pre')).toHaveText(/in stuck\n.*in search/s);
  lab.write('seen-enough', '');
});

test('the same in Notebook 7', async ({ lab, browser }) => {
  lab.write('seven.ipynb', notebook(RECORD, 'run.widget("task-stream")'));
  const context = await browser.newContext();
  const seven = await Lab.start(context, lab.server, 'notebooks/seven.ipynb');
  const book = await seven.notebook('seven.ipynb');
  await book.run(0);
  await book.run(1);
  const stream = panelIn(widgetIn(book.output(1)), 'Task stream');
  await expect(stream.locator('.di-legend-name')).toHaveText([/inc|double/, /inc|double/]);
  await context.close();
});
