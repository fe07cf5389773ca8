import { expect, test } from './report';

const TITLE = 'Compare';

test.beforeEach(async ({ report }) => {
  await report.open('compared');
});

test('a comparison shows its panel and no other, the verdict first', async ({ page }) => {
  await expect(page.getByRole('region', { name: TITLE, exact: true })).toBeVisible();
  await expect(page.locator('.di-panel')).toHaveCount(1);
  await expect(page.getByText(/after took/).filter({ visible: true })).toHaveCount(1);
  await expect(page.locator('header .verdict')).toContainText('after took');
});

test('bars have one scale: wall time, divided by the time budget, with a dot a run', async ({ report }) => {
  const sides = report.panel(TITLE).locator('.di-side');
  await expect(sides).toHaveCount(2);
  const widths = await sides.evaluateAll(all =>
    all.map(side =>
      [...side.querySelectorAll('.di-side-part')].reduce(
        (sum, part) => sum + part.getBoundingClientRect().width,
        0
      )
    )
  );
  expect(widths[1]).toBeGreaterThan(widths[0]);
  await expect(sides.nth(1).locator('.di-side-run')).toHaveCount(2);
  await expect(sides.nth(1)).toContainText('±');
});

test('the name that has become slower comes first, what came and went is told', async ({ report }) => {
  const names = report.panel(TITLE).getByRole('table', { name: /Task names/ });
  const rows = names.locator('tbody tr');
  await expect(rows.first()).toContainText('slow_part');
  await expect(rows.first()).toContainText(/slower by|times as long/);
  await expect(rows.filter({ hasText: 'came-new' })).toContainText('only in after');
  await expect(rows.filter({ hasText: 'went-away' })).toContainText('only in before');
  const alike = await rows.filter({ hasText: 'within the noise' }).all();
  expect(alike.length).toBeGreaterThan(0);
  for (const row of alike) await expect(row).toHaveClass('di-faint');
});

test('the flame graph tells both sides, and is as wide as the one chosen', async ({ report }) => {
  await report.place(TITLE);
  const box = await report.place(TITLE);
  let card = '';
  for (let y = 180; y < box.height && !card.includes('slow_part'); y += 18) {
    await report.page.mouse.move(box.x + box.width * 0.1, box.y + y);
    await report.settle();
    if (await report.card().isVisible()) card = await report.card().innerText();
  }
  expect(card).toContain('slow_part');
  expect(card).toMatch(/before/);
  expect(card).toMatch(/after/);
  expect(card).toContain('make_reports.py:');
  await report.page.mouse.move(2, 2);
  const after = await report.fingerprint(TITLE);
  await report.panel(TITLE).getByLabel('Width of the flame graph').selectOption({ label: 'Width: before' });
  await expect.poll(() => report.fingerprint(TITLE)).not.toBe(after);
});

for (const width of [420, 1280]) {
  test(`nothing sticks out at ${width} pixels`, async ({ report, page }) => {
    await page.setViewportSize({ width, height: 800 });
    await report.place(TITLE);
    const outside = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(outside).toBeLessThanOrEqual(0);
  });
}

test('on a phone, what heads a table stands beside its button', async ({ report, page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await report.place(TITLE);
  const tables = await report
    .panel(TITLE)
    .locator('.di-table-box')
    .evaluateAll(boxes =>
      boxes.map(box => {
        const words = document.createRange();
        words.selectNodeContents(box.querySelector('caption') as Element);
        const copy = box.querySelector('.di-icon') as Element;
        return [words.getBoundingClientRect().right, copy.getBoundingClientRect().left];
      })
    );
  expect(tables.length).toBeGreaterThan(1);
  for (const [right, left] of tables) expect(right).toBeLessThanOrEqual(left);
});

test('a report of one run has no such panel', async ({ report, page }) => {
  await report.open('real');
  await expect(page.getByRole('region', { name: TITLE, exact: true })).toHaveCount(0);
});
