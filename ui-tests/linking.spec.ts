import { expect, type Report, test } from './report';

/** Tasks that the table of functions counts. */
async function countedTasks(report: Report): Promise<number> {
  await report.panel('Functions').scrollIntoViewIfNeeded();
  await report.settle();
  const counts = await report.column('Functions', 1);
  return counts.reduce((sum, text) => sum + Number(text.replace(/,/g, '')), 0);
}

test.beforeEach(async ({ report }) => {
  await report.open('synthetic');
});

test('a stretch of time that is marked narrows every panel, and Esc widens them again', async ({
  report,
  page
}) => {
  const all = await countedTasks(report);
  const sampled = report.panel('Flame graph').getByRole('status').first();
  await report.picture('Flame graph').scrollIntoViewIfNeeded();
  await expect(sampled).toContainText('sampled');
  const before = await sampled.innerText();

  await report.brush('Task stream', 0.3, 0.5);
  for (const title of ['Task stream', 'Resources', 'Memory', 'Flame graph', 'Fine metrics', 'Functions']) {
    await expect(report.chips(title)).toHaveCount(1);
    await expect(report.chips(title)).toContainText('–');
  }
  await expect.poll(() => countedTasks(report)).toBeLessThan(all / 2);
  await report.picture('Flame graph').scrollIntoViewIfNeeded();
  await expect(sampled).not.toHaveText(before);

  // Where the pointer is on something, Esc puts its card away first.
  await page.mouse.move(0, 0);
  await page.keyboard.press('Escape');
  await expect(report.chips('Functions')).toHaveCount(0);
  await expect.poll(() => countedTasks(report)).toBe(all);
});

test('what fine metrics took each second stands over the shared time', async ({ report }) => {
  expect(await report.hover('Fine metrics', 80, 0.3)).toContain('per second');
  await report.brush('Fine metrics', 0.4, 0.6);
  await expect(report.chips('Task stream')).toHaveCount(1);
});

test('a stretch can be marked in the resources too, and undone', async ({ report, page }) => {
  const all = await countedTasks(report);
  await report.brush('Resources', 0.4, 0.6);
  await expect(report.chips('Task stream')).toHaveCount(1);
  await page.getByRole('button', { name: /^Undo/ }).click();
  await expect(report.chips('Task stream')).toHaveCount(0);
  expect(await countedTasks(report)).toBe(all);
  await page.getByRole('button', { name: /^Redo/ }).click();
  await expect(report.chips('Task stream')).toHaveCount(1);
});

test('a task name chosen in the table narrows the flame graph, and its chip takes it back', async ({
  report
}) => {
  await report.picture('Flame graph').scrollIntoViewIfNeeded();
  const before = await report.fingerprint('Flame graph');
  const first = report.panel('Functions').locator('tbody button').first();
  const name = await first.innerText();
  await first.click();
  await expect(report.chips('Flame graph')).toContainText(name);
  await expect.poll(() => report.fingerprint('Flame graph')).not.toBe(before);
  await report.chips('Flame graph').click();
  await expect.poll(() => report.fingerprint('Flame graph')).toBe(before);
});

test('a span is chosen with those inside it, in every panel', async ({ report }) => {
  const all = await countedTasks(report);
  const spans = report.panel('Spans');
  await spans.scrollIntoViewIfNeeded();
  await expect.poll(() => report.column('Spans', 0)).toEqual(['load', 'compute', 'compute / inner']);
  const counts = (await report.column('Spans', 1)).map(text => Number(text.replace(/,/g, '')));
  expect(counts[0] + counts[1]).toBe(all);
  expect(counts[2]).toBeLessThan(counts[1]);
  await spans.getByRole('button', { name: 'compute', exact: true }).click();
  await expect(report.chips('Flame graph')).toContainText('span compute');
  await expect.poll(() => countedTasks(report)).toBe(counts[1]);
});

test('the time that is shown is chosen by a key', async ({ report }) => {
  const all = await countedTasks(report);
  const picture = report.picture('Memory');
  await picture.press('+');
  await picture.press('+');
  await picture.press('s');
  await expect(report.chips('Functions')).toHaveCount(1);
  await expect.poll(() => countedTasks(report)).toBeLessThan(all * 0.7);
});

test('a click on a task chooses its name', async ({ report, page }) => {
  const card = await report.hover('Task stream', 30);
  const [name] = card.split('\n');
  await page.mouse.down();
  await page.mouse.up();
  await expect(report.chips('Functions')).toContainText(name.slice(0, 10));
  await report.panel('Functions').scrollIntoViewIfNeeded();
  await expect.poll(() => report.column('Functions', 0)).toEqual([name]);
});

test('wheel, drag, keys and double-click move the time of all charts together', async ({ report, page }) => {
  const picture = report.picture('Task stream');
  const titles = ['Task stream', 'Resources'];
  const prints = async (): Promise<number[]> => {
    const all: number[] = [];
    for (const title of titles) all.push(await report.fingerprint(title));
    return all;
  };
  await page.setViewportSize({ width: 1280, height: 1600 });
  const start = await prints();
  const box = await report.place('Task stream');
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  await expect.poll(() => page.evaluate(() => location.hash)).toContain('zoom=');
  const zoomed = await prints();
  for (const at of titles.keys()) expect(zoomed[at]).not.toBe(start[at]);

  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 150, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await expect.poll(prints).not.toEqual(zoomed);

  await picture.dblclick({ position: { x: 300, y: 40 } });
  await expect.poll(() => page.evaluate(() => location.hash)).not.toContain('zoom=');
});

test('the wheel scrolls the page as long as a chart has no focus', async ({ report, page }) => {
  const box = await report.place('Task stream');
  await page.mouse.move(box.x + 300, box.y + 40);
  await page.mouse.wheel(0, 200);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(100);
  // The address is written once the charts rest: a choice that comes later is in it.
  await report.panel('Functions').locator('tbody button').first().click();
  await expect.poll(() => page.evaluate(() => location.hash)).toContain('select=');
  expect(await page.evaluate(() => location.hash)).not.toContain('zoom=');
});

test('an address restores zoom and selection', async ({ report, page }) => {
  await report.brush('Task stream', 0.3, 0.6);
  await report.picture('Task stream').press('+');
  await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/zoom=.*select=|select=.*zoom=/);
  const counted = await countedTasks(report);
  const hash = await page.evaluate(() => location.hash);
  await page.goto('about:blank');
  await report.open('synthetic', hash);
  await expect(report.chips('Flame graph')).toHaveCount(1);
  await expect.poll(() => countedTasks(report)).toBe(counted);
  expect(await page.evaluate(() => location.hash)).toBe(hash);
});

test('the cursor line is in all charts over time at once', async ({ report, page }) => {
  const overlay = (title: string) =>
    report
      .picture(title)
      .locator('canvas')
      .nth(1)
      .evaluate((canvas: HTMLCanvasElement) => {
        const context = canvas.getContext('2d') as CanvasRenderingContext2D;
        const { data } = context.getImageData(0, Math.floor(canvas.height / 2), canvas.width, 1);
        const places: number[] = [];
        for (let x = 0; x < canvas.width; x++) if (data[4 * x + 3] > 0) places.push(x);
        return places;
      });
  await page.setViewportSize({ width: 1280, height: 1600 });
  const box = await report.place('Resources');
  await page.mouse.move(box.x + 500, box.y + 200);
  await report.settle();
  await expect.poll(() => overlay('Task stream')).toEqual([500]);
  await expect.poll(() => overlay('Memory')).toEqual([500]);
  await page.mouse.move(5, 5);
  await expect.poll(() => overlay('Memory')).toEqual([]);
});
