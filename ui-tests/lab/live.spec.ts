import { cells, notebook } from './cells';
import { expect, test } from './test';

test.beforeEach(async ({ lab }) => {
  lab.remove('live-enough');
  lab.write(
    'live.ipynb',
    notebook(cells.load, cells.cluster(), cells.tasks('early', 40), cells.busy('late', 'live-enough'))
  );
});

test('panels update while a cell is running', async ({ lab }) => {
  const live = await lab.open('live.ipynb');
  await lab.openPanel('Task stream');
  await lab.openPanel('Functions');
  await live.run(0);
  await live.run(1);
  await live.run(2);
  await expect.poll(() => lab.tasksOf('early')).toBe(40);

  await live.start(3);
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(20);
  const before = await lab.tasksOf('late');
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(before);
  const picture = await lab.fingerprint('Task stream');
  await expect.poll(() => lab.fingerprint('Task stream')).not.toBe(picture);
  await expect(live.prompt(3)).toHaveText('[*]:');

  lab.write('live-enough', '');
  await live.ended(3);
  await expect(live.output(3)).toContainText('enough of late');
});

test('memory goes on with what a local scheduler computes', async ({ lab }) => {
  const compute = `
import dask
def local_result(number):
    return bytes(100_000)
dask.compute(*[dask.delayed(local_result)(number) for number in range(20)], scheduler="threads");`;
  lab.write('locally.ipynb', notebook(cells.load, compute, compute));
  const locally = await lab.open('locally.ipynb');
  await lab.openPanel('Memory');
  const memory = lab.panel('Memory');
  await locally.run(0);
  await locally.run(1);
  await expect(memory).toContainText('only a distributed scheduler');
  const before = await lab.fingerprint('Memory');
  await locally.run(2);
  await expect.poll(() => lab.fingerprint('Memory')).not.toBe(before);
  await memory.getByRole('button', { name: 'Show as table' }).click();
  await expect(memory.getByRole('row', { name: /^local_result/ })).toContainText('40');
});

test('progress tells how far a running cell is', async ({ lab }) => {
  lab.remove('go-on');
  const slow = `
import os, time
def slow(number):
    while number > 9 and not os.path.exists("go-on"):
        time.sleep(0.01)
    time.sleep(0.1)
client.gather(client.map(slow, range(40), pure=False));`;
  lab.write('progress.ipynb', notebook(cells.load, cells.cluster(), slow));
  const live = await lab.open('progress.ipynb');
  await lab.openPanel('Progress');
  for (const cell of [0, 1]) await live.run(cell);
  await live.start(2);
  const panel = lab.panel('Progress');
  await panel.getByRole('button', { name: 'Show as table' }).click();
  const numbers = panel.getByRole('row').filter({ hasText: 'slow' }).getByRole('cell');
  await expect(numbers).toHaveText(['10', '2', '0', '0', '28', '40', /ms$/]);
  await expect(live.prompt(2)).toHaveText('[*]:');
  lab.write('go-on', '');
  await live.ended(2);
  await expect(numbers.first()).toHaveText('40');
});

test('what a person has zoomed stands still until it is to follow again', async ({ lab }) => {
  const live = await lab.open('live.ipynb');
  await lab.openPanel('Functions');
  await lab.openPanel('Task stream');
  for (const cell of [0, 1, 2]) await live.run(cell);
  await live.start(3);
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(100);
  const picture = lab.picture('Task stream');
  const follow = lab.panel('Task stream').getByRole('button', { name: /^Follow/ });
  await expect(follow).toHaveAttribute('aria-pressed', 'true');
  await picture.focus();
  for (let step = 0; step < 4; step++) await lab.page.keyboard.press('+');
  await expect(follow).toHaveAttribute('aria-pressed', 'false');

  const more = async (tasks: number): Promise<void> => {
    const now = await lab.tasksOf('late');
    await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(now + tasks);
  };
  await more(150);
  const zoomed = await lab.fingerprint('Task stream');
  await more(150);
  expect(await lab.fingerprint('Task stream')).toBe(zoomed);

  await follow.click();
  await expect(follow).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(() => lab.fingerprint('Task stream')).not.toBe(zoomed);
  lab.write('live-enough', '');
  await live.ended(3);
});

test('panels pause and resume', async ({ lab }) => {
  const live = await lab.open('live.ipynb');
  await lab.openPanel('Functions');
  for (const cell of [0, 1, 2]) await live.run(cell);
  await live.start(3);
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(20);
  const sidebar = await lab.sidebar();
  const done = async (): Promise<number> =>
    Number(/([\d,]+) of/.exec(await sidebar.innerText())?.[1].replaceAll(',', '') ?? 0);
  const more = async (): Promise<void> => {
    const before = await done();
    await expect.poll(done).toBeGreaterThan(before + 100);
  };
  const buttons = lab.panel('Functions').getByRole('toolbar', { name: 'Live view' });
  await buttons.getByRole('button', { name: /^Pause/ }).click();
  await more();
  const still = await lab.tasksOf('late');
  await more();
  expect(await lab.tasksOf('late')).toBe(still);
  await buttons.getByRole('button', { name: /^Resume/ }).click();
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(still + 100);
  lab.write('live-enough', '');
});

test('a notebook cell is chosen, and every panel shows what that cell did', async ({ lab }) => {
  lab.write(
    'picker.ipynb',
    notebook(cells.load, cells.cluster(), cells.tasks('third', 31), cells.tasks('fourth', 41))
  );
  const picker = await lab.open('picker.ipynb');
  for (const panel of ['Task stream', 'Functions']) await lab.openPanel(panel);
  for (const cell of [0, 1, 2, 3]) await picker.run(cell);
  await expect.poll(() => lab.tasksOf('fourth')).toBe(41);
  const choice = lab.panel('Functions').getByRole('combobox', { name: 'Notebook cell to show' });
  const third = await choice.locator('option').filter({ hasText: '[3]' }).getAttribute('value');
  await choice.selectOption(third);
  await expect.poll(() => lab.tasksOf('fourth')).toBe(0);
  expect(await lab.tasksOf('third')).toBe(31);
  await expect(lab.panel('Task stream').locator('.di-chip')).toHaveCount(1);
  await choice.selectOption({ index: 0 });
  await expect.poll(() => lab.tasksOf('fourth')).toBe(41);
});

test('panels go along with the latest cell, after a reload too, until Esc', async ({ lab }) => {
  const [first, second, third] = ['first', 'second', 'third'].map((name, at) => cells.tasks(name, 21 + at));
  lab.write('latest.ipynb', notebook(cells.load, cells.cluster(), first, second, third));
  const latest = await lab.open('latest.ipynb');
  await lab.openPanel('Functions');
  for (const cell of [0, 1, 2]) await latest.run(cell);
  await expect.poll(() => lab.tasksOf('first')).toBe(21);
  const choice = lab.panel('Functions').getByRole('combobox', { name: 'Notebook cell to show' });
  const chosen = choice.locator('option:checked');
  const chip = lab.panel('Functions').locator('.di-chip');
  await choice.selectOption('Latest cell');
  await expect(chip).toHaveText('cell [3]');
  await latest.run(3);
  await expect(chip).toHaveText('cell [4]');
  await expect.poll(() => lab.tasksOf('second')).toBe(22);
  expect(await lab.tasksOf('first')).toBe(0);
  await lab.reload();
  await expect(chosen).toHaveText('Latest cell');
  await expect(chip).toHaveText('cell [4]');
  await (await lab.open('latest.ipynb')).run(4);
  await expect(chip).toHaveText('cell [5]');
  await choice.press('Escape');
  await expect(chosen).toHaveText('All cells');
  await expect.poll(() => lab.tasksOf('first')).toBe(21);
});
