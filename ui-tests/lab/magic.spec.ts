import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cells, notebook } from './cells';
import type { Lab } from './lab';
import type { Notebook } from './notebook';
import { expect, test } from './test';

const RECORD = `%%dprofile first
import time
def recorded(number):
    time.sleep(0.02)
    return number
client.gather(client.map(recorded, range(30), pure=False));`;

/** A notebook whose cell 2 has been recorded. */
async function recorded(lab: Lab, path: string, line = '%%dprofile first'): Promise<Notebook> {
  lab.write(path, notebook(cells.load, cells.cluster(), RECORD.replace('%%dprofile first', line)));
  const open = await lab.open(path);
  for (const cell of [0, 1, 2]) await open.run(cell);
  return open;
}

interface Output {
  readonly data?: Readonly<Record<string, string | string[]>>;
}

/** What the file of a notebook holds under a cell, by MIME type. */
function saved(lab: Lab, path: string, cell: number): Map<string, string> {
  const { cells } = JSON.parse(readFileSync(join(lab.server.notebooks, path), 'utf8'));
  const outputs: Output[] = cells[cell].outputs;
  const all = outputs.flatMap(({ data }) => Object.entries(data ?? {}));
  return new Map(all.map(([type, text]) => [type, Array.isArray(text) ? text.join('') : String(text)]));
}

test('a recorded cell shows its report, which can be used', async ({ lab }) => {
  const magic = await recorded(lab, 'magic.ipynb');
  const stream = magic.output(2).getByRole('region', { name: 'Task stream' });
  await expect(stream).toBeVisible();
  await expect(magic.output(2)).toContainText('threads');
  // What is far below is laid out when a person comes near.
  await stream.scrollIntoViewIfNeeded();
  const name = stream.locator('.di-legend-name').filter({ hasText: 'recorded' });
  await name.click();
  await expect(stream.locator('.di-chip')).toHaveCount(1);
  await name.click();
  await expect(stream.locator('.di-chip')).toHaveCount(0);
});

test('the report survives save, close and reopening without the kernel', async ({ lab }) => {
  const magic = await recorded(lab, 'kept.ipynb');
  await expect(magic.output(2).getByRole('region', { name: 'Task stream' })).toBeVisible();
  await magic.save();
  await magic.close();
  await lab.server.shutdownAll();

  const again = await lab.open('kept.ipynb');
  const stream = again.output(2).getByRole('region', { name: 'Task stream' });
  await expect(stream).toBeVisible();
  await stream.scrollIntoViewIfNeeded();
  await stream.locator('.di-legend-name').filter({ hasText: 'recorded' }).click();
  await expect(stream.locator('.di-chip')).toHaveCount(1);
});

test('what is saved has a picture, a table and text for viewers that run no scripts', async ({ lab }) => {
  const magic = await recorded(lab, 'fallback.ipynb');
  await expect(magic.output(2).getByRole('region', { name: 'Task stream' })).toBeVisible();
  await magic.save();
  const whole = saved(lab, 'fallback.ipynb', 2);
  expect(whole.get('text/html')).toMatch(/<table/);
  expect(whole.get('text/html')).toMatch(/<iframe[^>]*sandbox="allow-scripts/);
  expect(whole.get('text/html')).not.toContain('allow-same-origin');
  expect(whole.has('image/png') || whole.has('image/svg+xml')).toBe(true);
  expect(whole.get('text/plain')?.length).toBeGreaterThan(20);
  expect(whole.has('application/vnd.jupyter.widget-view+json')).toBe(false);

  await recorded(lab, 'static.ipynb', '%%dprofile first --static');
  const static_ = await lab.notebook('static.ipynb');
  await expect(static_.output(2).locator('img, svg').first()).toBeVisible();
  await static_.save();
  const picture = saved(lab, 'static.ipynb', 2);
  expect(picture.has('image/png') || picture.has('image/svg+xml')).toBe(true);
  expect([...picture.values()].join('')).not.toMatch(/<script|<iframe/);
});

test('progress is shown under the cell while it runs', async ({ lab }) => {
  lab.write(
    'progress.ipynb',
    notebook(cells.load, cells.cluster(), `%%dprofile\n${cells.busy('slowly', 'enough-progress').trim()}`)
  );
  const progress = await lab.open('progress.ipynb');
  for (const cell of [0, 1]) await progress.run(cell);
  await progress.start(2);
  await expect(progress.output(2)).toContainText('slowly');
  const words = await progress.output(2).innerText();
  await expect.poll(() => progress.output(2).innerText()).not.toBe(words);
  await expect(progress.prompt(2)).toHaveText('[*]:');
  lab.write('enough-progress', '');
  await progress.ended(2);
  await expect(progress.output(2).getByRole('region', { name: 'Task stream' })).toBeVisible();
  await expect(progress.output(2)).toContainText('enough of slowly');
});

test('a cell keeps its report where an output widget catches what is shown meanwhile', async ({ lab }) => {
  const tasks = cells.tasks('slowly', 60, 0.2).trim().replaceAll('\n', '\n    ');
  lab.write(
    'caught.ipynb',
    notebook(
      cells.load,
      cells.cluster(),
      `%%dprofile\nimport ipywidgets\nfrom IPython.display import clear_output\nout = ipywidgets.Output()\ndisplay(out)\nwith out:\n    clear_output()\n    print('mine')\n    ${tasks}`
    )
  );
  const caught = await lab.open('caught.ipynb');
  for (const cell of [0, 1, 2]) await caught.run(cell);
  // The output widget has an output area of its own in that of the cell.
  const output = caught.output(2).first();
  await expect(output.getByRole('region', { name: 'Task stream' })).toBeVisible();
  await expect(caught.output(2).last()).toHaveText('mine');
});
