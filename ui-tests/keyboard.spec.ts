import { expect, test } from './report';

test.beforeEach(async ({ report }) => {
  await report.open('real');
});

test('every picture and control is reached with Tab and has a name', async ({ report, page }) => {
  const reached = new Set<string>();
  await page.locator('body').click({ position: { x: 5, y: 5 } });
  for (let step = 0; step < 120; step++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => document.activeElement === document.body)) break;
    const focused = page.locator(':focus');
    await expect(focused).toHaveAccessibleName(/./);
    // A title is a name too, but nobody reads it without a pointer.
    const labelled = await focused.evaluate(
      each =>
        !(each instanceof HTMLSelectElement) || each.labels.length > 0 || each.hasAttribute('aria-label')
    );
    expect(labelled).toBe(true);
    reached.add(((await focused.getAttribute('aria-label')) ?? '').split('.')[0]);
  }
  for (const title of ['Task stream', 'Resources', 'Memory', 'Flame graph', 'Fine metrics']) {
    expect([...reached]).toContain(title);
  }
  expect(report.problems).toEqual([]);
});

test('arrow keys go from task to task and say what each is', async ({ report, page }) => {
  const picture = report.picture('Task stream');
  await picture.focus();
  await page.keyboard.press('Enter');
  await expect(report.card()).toBeVisible();
  const live = report.panel('Task stream').locator('[aria-live]');
  await expect(live).not.toBeEmpty();
  const first = await live.innerText();
  await page.keyboard.press('ArrowRight');
  await expect(live).not.toHaveText(first);
  await page.keyboard.press('Escape');
  await expect(report.card()).toBeHidden();
});

test('the traceback of a failed task is read with keys alone', async ({ report, page }) => {
  const picture = report.picture('Task stream');
  await picture.focus();
  await page.keyboard.press('/');
  await page.keyboard.type('fail');
  await page.keyboard.press('Enter');
  await expect(report.chips('Task stream')).toHaveCount(1);
  await picture.focus();
  // Where a name is chosen, keys go to its tasks.
  await page.keyboard.press('Enter');
  await expect(report.card()).toContainText('ValueError');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await expect(report.card()).toBeFocused();
  const text = report.card().locator('pre');
  for (let stop = 0; stop < 20 && !(await text.evaluate(each => each === document.activeElement)); stop++)
    await page.keyboard.press('Tab');
  await expect(text).toContainText('no result for');
  await page.keyboard.press('Tab');
  await expect(report.card().getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(report.card().locator(':focus')).toHaveCount(0);
  await expect(picture).not.toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await expect(picture).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(report.card()).toBeHidden();
});

test('Esc puts a card of the pointer away, and keeps what is chosen', async ({ report, page }) => {
  await report.panel('Functions').locator('tbody button').first().click();
  await expect(report.chips('Task stream')).toHaveCount(1);
  await report.hover('Task stream', 8);
  await page.keyboard.press('Escape');
  await expect(report.card()).toBeHidden();
  await expect(report.chips('Task stream')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(report.chips('Task stream')).toHaveCount(0);
});

test('the flame graph is a tree', async ({ report, page }) => {
  const picture = report.picture('Flame graph');
  await picture.scrollIntoViewIfNeeded();
  // Samples are looked through when the panel has come into sight.
  await expect(report.panel('Flame graph')).toContainText('sampled');
  await expect(report.panel('Flame graph').getByRole('status').first()).toHaveAttribute('aria-live', 'off');
  await picture.focus();
  await expect(picture).toHaveRole('tree');
  await page.keyboard.press('ArrowDown');
  const current = picture.locator('[role=treeitem][aria-selected=true]');
  await expect(current).toHaveAttribute('aria-level', '1');
  await page.keyboard.press('ArrowDown');
  await expect(current).toHaveAttribute('aria-level', '2');
  const active = await picture.getAttribute('aria-activedescendant');
  expect(await current.getAttribute('id')).toBe(active);
  await page.keyboard.press('ArrowUp');
  await expect(current).toHaveAttribute('aria-level', '1');
  await page.keyboard.press('Enter');
  await expect(report.panel('Flame graph').locator('[aria-live=polite]')).toContainText('Zoomed to');
});

test('/ searches, ? explains, 0 fits', async ({ report, page }) => {
  await report.picture('Flame graph').scrollIntoViewIfNeeded();
  await report.picture('Flame graph').focus();
  await page.keyboard.press('/');
  await expect(report.panel('Flame graph').getByRole('searchbox')).toBeFocused();
  await page.keyboard.press('Escape');
  await page.locator('h1').click();
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Pointer and keys' });
  await expect(keys).toBeVisible();
  const [first, second] = await keys
    .locator('dt, dd')
    .evaluateAll(words => words.map(each => each.getBoundingClientRect()));
  expect(second.top).toBe(first.top);
  expect(second.left).toBeGreaterThan(first.left);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Pointer and keys' })).toBeHidden();

  await report.picture('Task stream').press('+');
  await expect.poll(() => page.evaluate(() => location.hash)).toContain('zoom=');
  await report.picture('Task stream').press('0');
  await expect.poll(() => page.evaluate(() => location.hash)).not.toContain('zoom=');
});

test('a task name is chosen and taken back without a pointer', async ({ report, page }) => {
  const chooser = report.panel('Functions').locator('tbody button').first();
  await chooser.focus();
  await page.keyboard.press('Enter');
  await expect(report.chips('Task stream')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(report.chips('Task stream')).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(report.chips('Task stream')).toHaveCount(1);
});
