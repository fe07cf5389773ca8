import { cells, notebook } from './cells';
import { expect, test } from './test';

test('the critical path grows while a cell is running, and is drawn over the task stream when asked', async ({
  lab
}) => {
  lab.remove('path-enough');
  lab.write('path.ipynb', notebook(cells.load, cells.cluster(), cells.busy('nap', 'path-enough')));
  const path = await lab.open('path.ipynb');
  await lab.openPanel('Task stream');
  await lab.openPanel('Critical path');
  await path.run(0);
  await path.run(1);
  await path.start(2);

  const row = lab.panel('Critical path').getByRole('row').filter({ hasText: 'nap' }).first();
  await expect(row).toBeVisible();
  const told = await row.innerText();
  await expect.poll(() => row.innerText()).not.toBe(told);

  const toggle = lab.panel('Task stream').getByRole('button', { name: 'Critical path' });
  await expect(toggle).toHaveAttribute('aria-pressed', 'false');
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  await expect(path.prompt(2)).toHaveText('[*]:');

  lab.write('path-enough', '');
  await path.ended(2);
  await expect(row).toBeVisible();
});
