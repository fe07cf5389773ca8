import { cells, notebook } from './cells';
import { expect, test } from './test';

test('what explains a run is there, and worked out anew, while a cell is running', async ({ lab }) => {
  lab.remove('answers-enough');
  lab.write(
    'answers.ipynb',
    notebook(cells.load, cells.cluster(), cells.busy('nap', 'answers-enough'), cells.tasks('after', 5))
  );
  const answers = await lab.open('answers.ipynb');
  await lab.openPanel('Time budget');
  await lab.openPanel('Findings');
  await answers.run(0);
  await answers.run(1);
  await answers.start(2);

  const findings = lab.panel('Findings').getByRole('list').first().locator(':scope > li');
  await expect(findings.first()).toBeVisible();
  await expect(lab.panel('Findings')).toContainText('nap');
  const told = await lab.panel('Findings').innerText();
  await expect.poll(() => lab.panel('Findings').innerText()).not.toBe(told);

  const budget = lab.panel('Time budget');
  await budget.getByRole('combobox', { name: 'Shared out' }).selectOption({ label: 'By task name' });
  await budget.getByRole('button', { name: 'Show as table' }).click();
  const nap = budget.getByRole('row').filter({ hasText: 'nap' }).first();
  await expect(nap).toBeVisible();
  const shared = await nap.innerText();
  await expect.poll(() => nap.innerText()).not.toBe(shared);
  await expect(answers.prompt(2)).toHaveText('[*]:');

  lab.write('answers-enough', '');
  await answers.ended(2);
  await answers.run(3);
  await expect(budget.getByRole('row').filter({ hasText: 'after' }).first()).toBeVisible();
});

test('a card shows the line of the cell that started a task', async ({ lab }) => {
  lab.write('code.ipynb', notebook(cells.load, cells.cluster(1), cells.tasks('slow', 6, 0.3)));
  const code = await lab.open('code.ipynb');
  await lab.openPanel('Task stream');
  for (const cell of [0, 1, 2]) await code.run(cell);
  const picture = lab.picture('Task stream');
  const card = lab.page.locator('.di-card:visible');
  // IPython does not count the empty line at the top of the cell.
  await expect(async () => {
    await picture.focus();
    await lab.page.keyboard.press('Escape');
    await lab.page.keyboard.press('Enter');
    await expect(card).toContainText('In [3]:2def slow(number):', { timeout: 5000 });
  }).toPass();
  await expect(card).toContainText('Started byIn [3]:5client.gather(client.map(slow,');
});
