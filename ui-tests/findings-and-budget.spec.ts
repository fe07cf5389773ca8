import { expect, type Report, test } from './report';

/** The rows of a panel's table, as text. */
async function table(report: Report, title: string): Promise<string[][]> {
  const rows = await report.panel(title).locator('.di-panel-table tbody tr').all();
  return Promise.all(rows.map(row => row.locator(':scope > *').allInnerTexts()));
}

const percent = (text: string): number => Number.parseFloat(text.replace('<', '')) || 0;

test.beforeEach(async ({ report }) => {
  await report.open('faulty');
});

test('the page answers from the top: sentence, findings, time budget, task stream', async ({
  report,
  page
}) => {
  const titles = await page.locator('#page h2').allInnerTexts();
  expect(titles.slice(0, 3)).toEqual(['Findings', 'Time budget', 'Task stream']);
  const list = report.panel('Findings').getByRole('list');
  await expect(list).toBeVisible();
  expect(await list.getByRole('listitem').count()).toBeGreaterThan(1);
  await expect(list).toContainText('failed');
  await expect(list).toContainText('fail');
  await expect(report.panel('Findings').locator('.di-finding-rest').first()).toBeHidden();
});

test('a finding opens to figures, advice with code, and a page of Dask', async ({ report }) => {
  const row = report.panel('Findings').getByRole('listitem').filter({ hasText: 'failed' }).first();
  await row.getByRole('button', { name: /^Details/ }).click();
  await expect(row.locator('.di-evidence')).toContainText('threshold');
  await expect(row.getByRole('heading', { name: 'What to do' })).toBeVisible();
  await expect(row.getByRole('button', { name: 'Copy code' }).first()).toBeVisible();
  const link = row.getByRole('link');
  await expect(link).toHaveAttribute('rel', 'noopener noreferrer');
  await expect(link).toHaveAttribute('target', '_blank');
  expect(await link.innerText()).toMatch(/dask\.org/);
  await expect(report.chips('Task stream')).toHaveCount(0);
});

test('a finding chooses what it concerns with one key, as one step', async ({ report, page }) => {
  const row = report.panel('Findings').getByRole('listitem').filter({ hasText: 'failed' }).first();
  const title = row.locator('.di-finding-title');
  await title.focus();
  await page.keyboard.press('Enter');
  await expect(title).toHaveAttribute('aria-pressed', 'true');
  await expect(report.chips('Task stream').first()).toContainText('fail');
  await expect(row.locator('.di-finding-rest')).toBeVisible();
  await report.panel('Functions').scrollIntoViewIfNeeded();
  await page.getByRole('button', { name: /^Undo/ }).click();
  await expect(report.chips('Task stream')).toHaveCount(0);
  await expect(title).toHaveAttribute('aria-pressed', 'false');
  await title.click();
  await title.click();
  await expect(report.chips('Task stream')).toHaveCount(0);
});

test('the time budget has idle time by cause, adds up, and says what the sentence says', async ({
  report,
  page
}) => {
  await report.panel('Time budget').getByRole('button', { name: 'Show as table' }).click();
  const rows = await table(report, 'Time budget');
  const sum = (of: string): number =>
    rows.filter(([, kind]) => kind === of).reduce((total, row) => total + percent(row[3]), 0);
  expect(Math.abs(sum('computing') + sum('overhead') + sum('idle') - 100)).toBeLessThan(4);
  const verdict = await page.locator('.verdict').innerText();
  expect(Math.abs(percent(/(\d+)\s?% computing/.exec(verdict)?.[1] ?? '') - sum('computing'))).toBeLessThan(
    3
  );
  const without = rows.find(([part]) => part === 'without tasks');
  expect(verdict).toContain('without tasks');
  expect(
    Math.abs(percent(/(\d+)\s?% without tasks/.exec(verdict)?.[1] ?? '') - percent(without?.[3] ?? ''))
  ).toBeLessThan(2);
});

test('a stretch that is marked over time narrows the bar and every other panel', async ({ report, page }) => {
  await report.panel('Time budget').getByRole('button', { name: 'Show as table' }).click();
  const before = await table(report, 'Time budget');
  const picture = await report.place('Time budget');
  await page.keyboard.down('Shift');
  await page.mouse.move(picture.x + picture.width * 0.35, picture.y + picture.height - 50);
  await page.mouse.down();
  await page.mouse.move(picture.x + picture.width * 0.5, picture.y + picture.height - 50, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await expect(report.chips('Task stream')).toHaveCount(1);
  await expect.poll(() => table(report, 'Time budget')).not.toEqual(before);
  // Where the pointer is on something, Esc puts its card away first.
  await page.mouse.move(0, 0);
  await page.keyboard.press('Escape');
  await expect.poll(() => table(report, 'Time budget')).toEqual(before);
});

test('the time is shared out by name, worker, span and line', async ({ report, page }) => {
  const panel = report.panel('Time budget');
  await panel.getByRole('button', { name: 'Show as table' }).click();
  const select = panel.getByRole('combobox', { name: 'Shared out' });
  for (const [by, wanted] of [
    ['By task name', 'solve'],
    ['By worker', '1'],
    ['By span', 'load'],
    ['By line of code', 'make_reports.py']
  ]) {
    await select.selectOption({ label: by });
    await expect
      .poll(async () => (await table(report, 'Time budget')).map(([group]) => group).join())
      .toContain(wanted);
  }
  await select.selectOption({ label: 'By task name' });
  const picture = report.picture('Time budget');
  await picture.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Home');
  await expect(report.card()).toBeVisible();
  await page.keyboard.press('Escape');
  const card = await report.hover('Time budget', 75, 0.1);
  expect(card).toContain('thread time');
  await page.mouse.down();
  await page.mouse.up();
  await expect(report.chips('Task stream')).toContainText(card.split('\n')[0]);
});

test('functions are searched by / and sorted by a key', async ({ report, page }) => {
  const panel = report.panel('Functions');
  await panel.scrollIntoViewIfNeeded();
  await expect.poll(() => report.column('Functions', 0)).toEqual(['solve', 'load', 'fail']);
  const search = panel.getByRole('searchbox');
  await search.fill('FA');
  await expect.poll(() => report.column('Functions', 0)).toEqual(['fail']);
  await page.keyboard.press('Escape');
  await expect.poll(() => report.column('Functions', 0)).toHaveLength(3);
  await panel.getByRole('button', { name: 'Median' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => report.column('Functions', 0)).toEqual(['load', 'solve', 'fail']);
  await expect(panel.locator('thead')).toContainText('Defined in');
  const places = await report.column('Functions', 11);
  expect(places).toHaveLength(3);
  for (const place of places) expect(place).toMatch(/make_reports\.py:\d+$/);
});

test('what is worked out is there with the first picture', async ({ report, page }) => {
  await page.goto('about:blank');
  await report.open('synthetic');
  await expect(report.panel('Findings').getByRole('list')).toBeVisible();
  await expect(report.panel('Time budget').locator('.di-budget-note')).toBeHidden();
});

for (const width of [360, 1280]) {
  test(`what is chosen in the task stream moves nothing above it at ${width} pixels`, async ({
    report,
    page
  }) => {
    await page.setViewportSize({ width, height: 900 });
    await report.settle();
    const top = async (): Promise<number> => (await report.place('Task stream')).y;
    const before = await top();
    await report.panel('Task stream').locator('.di-legend-name').first().click();
    await expect(report.panel('Time budget').locator('.di-note')).toContainText('Left out');
    await report.settle();
    expect(await top()).toBe(before);
  });
}

for (const width of [420, 1280]) {
  test(`nothing sticks out at ${width} pixels, with findings open`, async ({ report, page }) => {
    await page.setViewportSize({ width, height: 900 });
    for (const row of await report.panel('Findings').getByRole('listitem').all()) {
      await row.getByRole('button', { name: /^Details/ }).click();
    }
    await report.settle();
    const outside = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(outside).toBeLessThanOrEqual(0);
  });
}
