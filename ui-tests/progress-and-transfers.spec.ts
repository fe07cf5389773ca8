import { expect, test } from './report';

test('progress tells what is done of each name and what failed, also of a moment before', async ({
  report
}) => {
  await report.open('real');
  const panel = report.panel('Progress');
  await report.place('Progress');
  await panel.getByRole('button', { name: 'Show as table' }).click();
  const row = panel.getByRole('row').filter({ hasText: 'spin' });
  await expect(row.getByRole('cell')).toHaveText(['16', '0', '0', '0', '0', '16', /s$/]);
  await expect(panel.getByRole('row').filter({ hasText: 'fail' }).getByRole('cell').nth(2)).toHaveText('1');
  // Spinning comes last and takes long, also on a busy machine: shortly before the end some of it was not done yet.
  await report.brush('Task stream', 0.3, 0.8);
  await expect(report.chips('Progress')).toHaveCount(1);
  await expect(row.getByRole('cell').first()).not.toHaveText('16');
  const [done, running, , , waiting, all] = (await row.getByRole('cell').allInnerTexts()).map(Number);
  expect(done + running + waiting).toBe(all);
});

test('a bar of progress narrows the other panels', async ({ report, page }) => {
  await report.open('real');
  const card = await report.hover('Progress', 10, 0.1);
  expect(card).toMatch(/Done\s+\d+ of \d+/);
  // Where the pointer is: what the page has laid out meanwhile may have moved the panel.
  await page.mouse.down();
  await page.mouse.up();
  await expect(report.chips('Task stream')).toHaveCount(1);
});

test('transfers tell who sent to whom, and what', async ({ report, page }) => {
  await report.open('real');
  const panel = report.panel('Transfers');
  const box = await report.place('Transfers');
  // The cell of the first line and second column.
  const card = await report.hover('Transfers', 42, 0.2, 0.9);
  expect(card).toMatch(/worker 0 → (worker 1|clients)/);
  expect(card).toMatch(/Rate\s+[\d.]+\s\w+\/s/);
  await panel.getByRole('combobox', { name: 'Coloured by' }).selectOption('bytes a second');
  await panel.getByRole('button', { name: 'Show as table' }).click();
  const sent = await report.column('Transfers', 3);
  expect(sent.length).toBeGreaterThan(1);
  expect(box.height).toBeGreaterThan(100);
  await page.keyboard.press('Escape');
  await report.open('threads');
  await expect(report.panel('Transfers')).toContainText('No worker has sent a result to another one');
});
