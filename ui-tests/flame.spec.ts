import { expect, test } from './report';

test.beforeEach(async ({ report }) => {
  await report.open('real');
  await report.picture('Flame graph').scrollIntoViewIfNeeded();
});

const note = '.di-note';

test('the function that spins is found with its share, file and lines', async ({ report }) => {
  const panel = report.panel('Flame graph');
  await panel.getByRole('searchbox').fill('spin');
  await expect(panel.locator(note)).toHaveText(/^\d+\s?% in 1 function/);
  const share = Number.parseInt(await panel.locator(note).innerText(), 10);
  expect(share).toBeGreaterThan(40);
  await panel.getByRole('searchbox').fill('make_reports.py');
  await expect(panel.locator(note)).toContainText('function');
  await panel.getByRole('searchbox').fill('no such function');
  await expect(panel.locator(note)).toHaveText('no match');
});

test('hover tells file, line and share', async ({ report }) => {
  const panel = report.panel('Flame graph');
  await panel.getByRole('searchbox').fill('spin');
  await panel.getByRole('searchbox').press('Enter');
  const text = await report.hover('Flame graph', 22 + 18 + 9, 0.1);
  expect(text).toContain('spin');
  expect(text).toContain('make_reports.py:');
  expect(text).toMatch(/total\s+[\d.]+\s?m?s \(\d+\s?%\)/);
  expect(text).toMatch(/line \d+/);
});

test('a click zooms in, Esc goes back', async ({ report, page }) => {
  await report.open('synthetic');
  await report.picture('Flame graph').scrollIntoViewIfNeeded();
  await report.settle();
  const before = await report.fingerprint('Flame graph');
  const row = 22 + 18 * 3 + 9;
  const card = await report.hover('Flame graph', row, 0.02);
  const [name] = card.split('\n');
  expect(await report.hover('Flame graph', row, 0.9, 1)).not.toContain(name);
  await report.hover('Flame graph', row, 0.02);
  await page.mouse.down();
  await page.mouse.up();
  await expect.poll(() => report.fingerprint('Flame graph')).not.toBe(before);
  expect(await report.hover('Flame graph', row, 0.9, 1)).toContain(name);
  await page.keyboard.press('Escape');
  await expect(report.card()).toBeHidden();
  await page.keyboard.press('Escape');
  await expect.poll(() => report.fingerprint('Flame graph')).toBe(before);
});

test('inverted, the function that spins stands on top', async ({ report }) => {
  const panel = report.panel('Flame graph');
  await panel.getByRole('button', { name: /inverted/ }).click();
  const text = await report.hover('Flame graph', 22 + 9, 0.05);
  expect(text).toContain('spin');
});

test('as a table it can be sorted and copied', async ({ report, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const panel = report.panel('Flame graph');
  await panel.getByRole('button', { name: 'Show as table' }).click();
  await expect(panel.locator('tbody tr').first()).toContainText('spin');
  await panel.getByRole('button', { name: 'Copy table' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.split('\n')[0]).toBe(
    'Function\tItself, s\tShare of itself\tTotal, s\tShare of total\tBusiest line\tFile'
  );
  expect(copied).toMatch(/^spin\t[\d.]+\t(0\.\d+|1)\t/m);
});

test('other threads can be looked at', async ({ report }) => {
  const panel = report.panel('Flame graph');
  const before = await report.fingerprint('Flame graph');
  await panel.getByRole('combobox', { name: 'Threads' }).selectOption('scheduler');
  await expect.poll(() => report.fingerprint('Flame graph')).not.toBe(before);
});
