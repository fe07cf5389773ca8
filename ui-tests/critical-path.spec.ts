import { expect, test } from './report';

const TITLE = 'Critical path';

test.beforeEach(async ({ report }) => {
  await report.open('real');
  await report.place(TITLE);
});

test('it adds up to the length of the run, by task name', async ({ report }) => {
  const panel = report.panel(TITLE);
  const shares = (await report.column(TITLE, 2)).map(text => Number.parseFloat(text.replace('<', '')));
  expect(shares.length).toBeGreaterThan(3);
  const sum = shares.reduce((all, each) => all + each, 0);
  expect(Math.abs(sum - 100)).toBeLessThan(shares.length);
  await expect(panel.locator('thead th')).toContainText([
    'Task name',
    'On the path',
    'Share',
    'Steps',
    'Computing'
  ]);
  await expect(panel.locator('.di-path-kinds')).toContainText('computing');
});

test('a click on a name narrows the other panels, and takes it back', async ({ report }) => {
  const first = report.panel(TITLE).locator('tbody button').first();
  const name = await first.innerText();
  await first.click();
  await expect(report.chips('Task stream')).toContainText(name);
  await first.click();
  await expect(report.chips('Task stream')).toHaveCount(0);
});

test('step by step it tells what each waited for, and a click brings one into sight', async ({
  report,
  page
}) => {
  const panel = report.panel(TITLE);
  await panel.getByLabel('List').selectOption({ label: 'Step by step' });
  await expect(panel.locator('thead th').nth(5)).toContainText('Waited for');
  const waited = await report.column(TITLE, 5);
  for (const text of waited)
    expect(text).toMatch(/^(the result of |the thread that |the client|another attempt)/);
  expect(waited[0]).toContain('client');
  const times = await report.column(TITLE, 1);
  expect(times.length).toBe(waited.length);

  const stream = await report.fingerprint('Task stream');
  await panel.locator('tbody button').last().click();
  await expect(report.chips('Task stream')).toContainText('attempt');
  await report.place('Task stream');
  await expect.poll(() => report.fingerprint('Task stream')).not.toBe(stream);
  // Where the pointer is on something, Esc puts its card away first.
  await page.mouse.move(0, 0);
  await page.keyboard.press('Escape');
  await expect(report.chips('Task stream')).toHaveCount(0);
});

test('hover tells what the time went into and who waited for it', async ({ report }) => {
  const text = await report.hover(TITLE, 15, 0.5);
  expect(text).toContain('Here');
  expect(text).toContain('Waited for it');
});

test('it is drawn over the task stream, and can be hidden', async ({ report }) => {
  await report.place('Task stream');
  const toggle = report.panel('Task stream').getByRole('button', { name: TITLE });
  await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  const shown = await report.fingerprint('Task stream');
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-pressed', 'false');
  await expect.poll(() => report.fingerprint('Task stream')).not.toBe(shown);
  await toggle.click();
  await expect.poll(() => report.fingerprint('Task stream')).toBe(shown);
});

test('it narrows to a stretch of time that is marked', async ({ report }) => {
  const rows = report.panel(TITLE).locator('tbody tr');
  const panel = report.panel(TITLE);
  await panel.getByLabel('List').selectOption({ label: 'Step by step' });
  await expect(panel.locator('thead th').nth(5)).toContainText('Waited for');
  const all = await rows.count();
  await report.brush('Task stream', 0.85, 0.95);
  await expect.poll(() => rows.count()).toBeLessThan(all);
});
