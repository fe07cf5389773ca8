import type { Locator } from '@playwright/test';
import { cells, notebook } from './cells';
import { expect, test } from './test';

test('a kernel that is restarted, or another one, begins anew, and its panels with it', async ({ lab }) => {
  lab.write(
    'restart.ipynb',
    notebook(cells.load, cells.cluster(), cells.tasks('before', 40), cells.tasks('after', 30))
  );
  const restart = await lab.open('restart.ipynb');
  await lab.openPanel('Functions');
  for (const cell of [0, 1, 2]) await restart.run(cell);
  await expect.poll(() => lab.tasksOf('before')).toBe(40);
  const functions = lab.panel('Functions');
  await functions.getByLabel('Notebook cell to show').selectOption({ index: 2 });
  await expect(functions.locator('.di-chip')).toHaveText('cell [3]');
  await restart.restart();
  for (const cell of [0, 1, 3]) await restart.run(cell);
  await expect.poll(() => lab.tasksOf('after')).toBe(30);
  expect(await lab.tasksOf('before')).toBe(0);
  await expect(functions.locator('.di-chip')).toHaveCount(0);
  await restart.changeKernel();
  for (const cell of [0, 1, 2]) await restart.run(cell);
  await expect.poll(() => lab.tasksOf('before')).toBe(40);
  expect(await lab.tasksOf('after')).toBe(0);
});

test('two notebooks on two clusters keep to themselves', async ({ lab }) => {
  for (const name of ['one', 'two']) {
    lab.write(`${name}.ipynb`, notebook(cells.load, cells.cluster(), cells.tasks(`work_${name}`, 25)));
  }
  const one = await lab.open('one.ipynb');
  for (const cell of [0, 1, 2]) await one.run(cell);
  const two = await lab.open('two.ipynb');
  for (const cell of [0, 1, 2]) await two.run(cell);
  await lab.openPanel('Functions');
  await expect.poll(() => lab.tasksOf('work_two')).toBe(25);
  expect(await lab.tasksOf('work_one')).toBe(0);
  await lab.closePanel('Functions');

  await one.show();
  await lab.openPanel('Functions');
  await expect.poll(() => lab.tasksOf('work_one')).toBe(25);
  expect(await lab.tasksOf('work_two')).toBe(0);

  // Where there are panels of several notebooks, tabs say of which.
  const tab = (name: string): Locator => lab.page.getByRole('tab', { name, exact: true });
  await expect(tab('Functions')).toBeVisible();
  await two.show();
  await lab.openPanel('Workers');
  await expect(tab('Functions · one')).toBeVisible();
  await expect(tab('Workers · two')).toBeVisible();
  // Whoever goes to a panel of the other one and back is at that, and back.
  const at = (await lab.sidebar()).getByRole('heading', { level: 3 });
  for (const [name, place] of [
    ['Functions · one', 'one.ipynb'],
    ['two.ipynb', 'two.ipynb']
  ]) {
    await tab(name).click();
    await expect(at).toHaveText(place);
  }
  await lab.closePanel('Workers');
  await expect(tab('Functions')).toBeVisible();
});

test('one notebook shows two clusters and a local scheduler together', async ({ lab }) => {
  lab.write(
    'both.ipynb',
    notebook(
      cells.load,
      cells.cluster(),
      cells.tasks('on_first', 12),
      cells.cluster(),
      cells.tasks('on_second', 13),
      `import dask
def locally(number):
    return number
dask.compute(*[dask.delayed(locally)(number) for number in range(14)], scheduler="threads");`
    )
  );
  const both = await lab.open('both.ipynb');
  await lab.openPanel('Functions');
  for (const cell of [0, 1, 2, 3, 4, 5]) await both.run(cell);
  await expect.poll(() => lab.tasksOf('on_first')).toBe(12);
  await expect.poll(() => lab.tasksOf('on_second')).toBe(13);
  await expect.poll(() => lab.tasksOf('locally')).toBe(14);
});

test('a notebook that is closed and opened again finds its history', async ({ lab }) => {
  lab.write('again.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('kept', 40)));
  const again = await lab.open('again.ipynb');
  for (const cell of [0, 1, 2]) await again.run(cell);
  await again.save();
  await again.close();
  const second = await lab.open('again.ipynb');
  await lab.openPanel('Functions');
  await expect.poll(() => lab.tasksOf('kept')).toBe(40);

  // A panel may stay open meanwhile; the notebook then opens as a tab before it.
  await second.close();
  await expect.poll(() => lab.tasksOf('kept')).toBe(40);
  const third = await lab.open('again.ipynb');
  await third.run(2);
  await lab.openPanel('Functions');
  await expect.poll(() => lab.tasksOf('kept')).toBe(80);
});

test('a notebook that is renamed keeps its panels', async ({ lab }) => {
  lab.write('first-name.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40)));
  lab.remove('second-name.ipynb');
  const first = await lab.open('first-name.ipynb');
  await lab.openPanel('Functions');
  for (const cell of [0, 1]) await first.run(cell);
  await first.rename('second-name.ipynb');
  await expect(lab.page.getByRole('tab', { name: 'Functions', exact: true })).toHaveAttribute(
    'title',
    'Functions of second-name.ipynb'
  );
  await first.run(2);
  await expect.poll(() => lab.tasksOf('early')).toBe(40);
});

test('a console has panels too, and a recorded cell its report', async ({ lab }) => {
  await lab.execute('console:create', { kernelPreference: { name: 'python3' }, activate: true });
  const console = lab.page.locator('.jp-ConsolePanel');
  await expect(console).toBeVisible();
  await expect(console.locator('.jp-CodeConsole-banner')).toContainText('Python', { timeout: 90_000 });
  const prompt = console.locator('.jp-CodeConsole-promptCell .cm-content');
  const enter = async (source: string): Promise<void> => {
    await prompt.click();
    await lab.page.keyboard.insertText(source);
    await lab.page.keyboard.press('Shift+Enter');
    await expect(console.locator('.jp-CodeConsole-content .jp-InputArea-prompt').last()).toHaveText(
      /\[\d+\]:/
    );
  };
  for (const source of [cells.load, cells.cluster().trim(), cells.tasks('typed', 15).trim()]) {
    await enter(source);
  }
  await lab.openPanel('Functions');
  await expect.poll(() => lab.tasksOf('typed')).toBe(15);
  await enter(`%%dprofile\n${cells.tasks('recorded', 5).trim()}`);
  await expect(console.getByRole('region', { name: 'Task stream' })).toBeVisible();
  await expect.poll(() => lab.tasksOf('recorded')).toBe(5);
});
