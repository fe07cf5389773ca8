import { expect, test } from './report';

test.beforeEach(async ({ report }) => {
  await report.open('hostile');
});

test('names that are markup, scripts or 10,000 letters run nothing and break nothing', async ({
  report,
  page
}) => {
  for (const title of ['Task stream', 'Resources', 'Memory', 'Flame graph', 'Fine metrics', 'Workers']) {
    await report.panel(title).scrollIntoViewIfNeeded();
    await report.settle();
  }
  expect(await page.locator('script').count()).toBe(2);
  expect(await page.locator('img, b, i').count()).toBe(0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(wide).toBeLessThanOrEqual(0);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('</script><b>name</b>');
});

test('cards, chips, tables and legends hold them as text', async ({ report, page }) => {
  const card = await report.hover('Task stream', 14, 0.15);
  expect(card.length).toBeGreaterThan(20);
  const names = await report.column('Functions', 0);
  expect(names).toContain('"><img src=x onerror="window.__pwned = 1">');
  expect(names).toContain('__proto__');
  const choosers = report.panel('Functions').locator('tbody button');
  const count = await choosers.count();
  for (let at = 0; at < count; at++) await choosers.nth(at).click();
  await expect(report.chips('Task stream')).toHaveCount(1);
  for (let at = 0; at < count; at++) await page.keyboard.press('Escape');
  await report.hover('Flame graph', 22 + 9, 0.02);
  await report.hover('Fine metrics', 36, 0.1);
  const longest = await page
    .locator('.di-card')
    .evaluateAll(cards =>
      cards.map(each => each.getBoundingClientRect()).map(({ width, height }) => Math.max(width, height))
    );
  expect(Math.max(...longest)).toBeLessThan(900);
});

test('units that are markup are choices like others', async ({ report }) => {
  const unit = report.panel('Fine metrics').getByRole('combobox', { name: 'Unit' });
  await unit.scrollIntoViewIfNeeded();
  await unit.selectOption('</script><script>window.__pwned = 1</script>');
  await report.settle();
  await report.hover('Fine metrics', 36, 0.1);
});
