import { expect, test } from './report';

const TITLE = 'Task stream';

declare global {
  interface Window {
    __pointer?: readonly [x: number, y: number];
  }
}

/** `12.4 ms` in seconds. */
function seconds(text: string): number {
  const [, amount, unit] = /^([\d.]+)\s(µs|ms|s)$/.exec(text) ?? [];
  return Number(amount) * { µs: 1e-6, ms: 1e-3, s: 1 }[unit as 'µs' | 'ms' | 's'];
}

test.beforeEach(async ({ report, page }) => {
  await report.open('synthetic');
  await page.evaluate(() => {
    addEventListener('mousemove', event => {
      window.__pointer = [event.clientX, event.clientY];
    });
  });
});

test('the card stands beside the task, is pinned by a click and tells more then', async ({
  report,
  page
}) => {
  const brief = await report.hover(TITLE, 14);
  expect(brief).toMatch(/Key\n.*\nStatus\n/);
  const covered = await page.evaluate(() => {
    const [x, y] = window.__pointer ?? [0, 0];
    const card = document.querySelector('.di-card:not([hidden])')?.getBoundingClientRect() ?? new DOMRect();
    return x >= card.left && x <= card.right && y >= card.top && y <= card.bottom;
  });
  expect(covered).toBe(false);
  await page.mouse.down();
  await page.mouse.up();
  const full = await report.card().innerText();
  expect(full.length).toBeGreaterThan(brief.length);
  expect(full).toContain('Thread\n');
  await page.mouse.move(5, 5);
  await expect(report.card()).toBeVisible();
  await report.card().getByRole('button', { name: 'Close' }).click();
  await expect(report.card()).toBeHidden();
});

test('what a task waited for is drawn, and keys lead there', async ({ report, page }) => {
  /** Columns of pixels that are drawn upon below the first lanes, the cursor's line aside. */
  const elsewhere = (): Promise<number> =>
    report
      .picture(TITLE)
      .locator('canvas')
      .last()
      .evaluate((canvas: HTMLCanvasElement) => {
        const { width, height } = canvas;
        const from = Math.round(height / 4);
        const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
        const { data } = pen.getImageData(0, from, width, height - from);
        const inked = new Uint32Array(width);
        for (let at = 3; at < data.length; at += 4) if (data[at] > 0) inked[(at >> 2) % width]++;
        return inked.filter(count => count > 0 && count < (height - from) / 2).length;
      });
  await report.picture(TITLE).focus();
  let card = '';
  let lines = 0;
  // Inputs of some lie beside them, or end just as they begin: no line of theirs leads elsewhere.
  for (let from = 0.3; from < 0.98 && !(card.includes('Inputs') && lines > 2); from += 0.04) {
    card = await report.hover(TITLE, 14, from);
    lines = await elsewhere();
  }
  expect(card).toContain('Inputs');
  expect(lines).toBeGreaterThan(2);
  const moment = (text: string, label: string): number =>
    Number(text.match(new RegExp(`${label}\\n([0-9.]+)`))?.[1]);
  await page.keyboard.press('i');
  await report.settle();
  const input = await report.card().innerText();
  expect(moment(input, 'Ended')).toBeLessThanOrEqual(moment(card, 'Started'));
  await page.keyboard.press('o');
  await report.settle();
  expect(moment(await report.card().innerText(), 'Started')).toBeGreaterThanOrEqual(moment(input, 'Ended'));
});

test('the key is copied whole by a click on the pinned card', async ({ report, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await report.hover(TITLE, 14);
  await page.mouse.down();
  await page.mouse.up();
  await report.card().locator('.di-copy').first().click();
  await expect(report.card().locator('.di-copy').first()).toHaveText('Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^\('.+-[0-9a-f]{32}', \d+, \d+\)$/
  );
});

test('names are found, pointed at, chosen and hidden in the legend', async ({ report, page }) => {
  const panel = report.panel(TITLE);
  const plain = await report.rested(TITLE);
  const name = panel.locator('.di-legend-name').first();
  await name.hover();
  await expect.poll(() => report.fingerprint(TITLE)).not.toBe(plain);
  await page.mouse.move(2, 2);
  await expect.poll(() => report.fingerprint(TITLE)).toBe(plain);

  await name.click();
  await expect(report.chips(TITLE)).toHaveCount(1);
  await name.click();
  await expect(report.chips(TITLE)).toHaveCount(0);
  await page.mouse.move(2, 2);
  await expect.poll(() => report.fingerprint(TITLE)).toBe(plain);

  const item = panel.locator('.di-legend-item').first();
  await item.hover();
  await item.getByRole('button', { name: /^Hide / }).click();
  await page.mouse.move(2, 2);
  await expect.poll(() => report.fingerprint(TITLE)).not.toBe(plain);
  await item.getByRole('button', { name: /^Show / }).click();
  await page.mouse.move(2, 2);
  await expect.poll(() => report.fingerprint(TITLE)).toBe(plain);

  await panel.getByRole('searchbox').fill('merge');
  for (const text of await panel.locator('.di-legend-name').allInnerTexts()) expect(text).toContain('merge');
  await page.keyboard.press('Enter');
  await expect(report.chips(TITLE)).toHaveCount(1);
});

test('a pan there and back leaves the same picture', async ({ report, page }) => {
  const picture = report.picture(TITLE);
  await picture.focus();
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await report.settle();
  const before = await report.fingerprint(TITLE);
  const { x, y } = await report.place(TITLE);
  await page.mouse.move(x + 600, y + 40);
  await page.mouse.down();
  await page.mouse.move(x + 437, y + 40, { steps: 7 });
  await expect.poll(() => report.fingerprint(TITLE)).not.toBe(before);
  await page.mouse.move(x + 600, y + 40, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => report.fingerprint(TITLE)).toBe(before);
});

test('the table lists what is in sight', async ({ report, page }) => {
  const panel = report.panel(TITLE);
  await report.picture(TITLE).focus();
  for (let times = 0; times < 12; times++) await page.keyboard.press('+');
  await expect.poll(() => page.evaluate(() => location.hash)).toContain('zoom=');
  const zoom = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('zoom') ?? '');
  const [from, to] = zoom.split('-').map(Number);
  await panel.getByRole('button', { name: 'Show as table' }).click();
  const header = await panel.locator('thead th').allInnerTexts();
  expect(header).toEqual(['Name', 'Key', 'Status', 'Start, s', 'Took', 'Worker', 'Thread', 'Result']);
  const starts = (await report.column(TITLE, 3)).map(Number);
  const took = (await report.column(TITLE, 4)).map(seconds);
  expect(starts.length).toBeGreaterThan(0);
  for (const [row, start] of starts.entries()) {
    expect(start).toBeLessThanOrEqual(to);
    // What it took is rounded to three digits.
    expect(start + 1.01 * took[row]).toBeGreaterThanOrEqual(from);
  }
  expect([...starts].sort((a, b) => a - b)).toEqual(starts);
});

test('of a task that gave its thread back a low bar is left, which the legend names', async ({ report }) => {
  await report.open('away');
  await report.rested('Task stream');
  const canvas = report.picture('Task stream').locator('canvas').first();
  // Ten seconds in the plot: colours at one and at five, in the upper and in the lowest part of the lane.
  const [[held, heldLow], [left, leftLow], ground] = await canvas.evaluate((canvas: HTMLCanvasElement) => {
    const ratio = window.devicePixelRatio;
    const sheet = canvas.getContext('2d') as CanvasRenderingContext2D;
    const color = (x: number, y: number): string =>
      String(sheet.getImageData(Math.round(x * canvas.width), Math.round(y * ratio), 1, 1).data);
    return [...[0.2, 0.55].map(x => [color(x, 4), color(x, 26)]), color(0.999, 4)];
  });
  expect(held).toBe(heldLow);
  expect(held).not.toBe(ground);
  expect([left, leftLow]).toEqual([ground, held]);
  await expect(report.panel('Task stream').locator('.di-legend-signs')).toContainText('without a thread');
  expect(await report.hover('Task stream', 26, 0.5, 0.6)).toMatch(/Without a thread\s+6\s?s/);
});
