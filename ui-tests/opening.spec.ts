import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { addressOf, expect, type ReportName, test } from './report';

const PICTURES = ['Time budget', 'Task stream', 'Resources', 'Memory', 'Flame graph', 'Fine metrics'];
const PANELS = [...PICTURES, 'Functions', 'Workers', 'Events'];

test('a real run opens offline with every panel drawn', async ({ report, page }) => {
  await report.open('real');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('real');
  await expect(page.locator('.verdict')).toContainText(/on 4 threads: \d+\s?% computing/);
  await expect(page.locator('.facts')).toContainText('2 workers, 4 threads');
  for (const title of PANELS) {
    const panel = report.panel(title);
    await panel.scrollIntoViewIfNeeded();
    await expect(panel).toBeVisible();
    await expect(panel.locator('.di-empty')).toBeHidden();
  }
  for (const title of PICTURES) {
    await report.picture(title).scrollIntoViewIfNeeded();
    expect(await report.colors(title)).toBeGreaterThan(2);
  }
});

test('the time budget adds up and agrees with the sentence at the top', async ({ report, page }) => {
  await report.open('real');
  const panel = report.panel('Time budget');
  await panel.getByRole('button', { name: 'Show as table' }).click();
  const parts = await report.column('Time budget', 0);
  const shares = (await report.column('Time budget', 3)).map(text => Number.parseInt(text, 10) || 0);
  expect(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100)).toBeLessThan(4);
  const said = /(\d+)\s?% computing/.exec(await page.locator('.verdict').innerText());
  const computing = shares.filter((_, at) => parts[at].startsWith('computing')).reduce((a, b) => a + b, 0);
  expect(Math.abs(Number(said?.[1]) - computing)).toBeLessThan(3);
});

test('what failed is told at the top and in the tables', async ({ report, page }) => {
  await report.open('real');
  await expect(page.locator('.verdict')).toContainText('1 attempt failed');
  const names = await report.column('Functions', 0);
  const failed = await report.column('Functions', 8);
  expect(failed[names.indexOf('fail')]).toBe('1');
});

test('what happened is listed, and brings its time into all charts', async ({ report, page }) => {
  await report.open('real');
  const levels = new Set(await report.column('Events', 1));
  for (const level of levels) expect(['debug', 'info', 'warning', 'error']).toContain(level);
  const stream = report.picture('Task stream');
  await stream.scrollIntoViewIfNeeded();
  const before = await report.fingerprint('Task stream');
  await report.panel('Events').locator('tbody button').last().click();
  await stream.scrollIntoViewIfNeeded();
  await expect.poll(() => report.fingerprint('Task stream')).not.toBe(before);
  await expect(page).toHaveURL(/#/);
});

test('a run of a local scheduler opens, and says what it cannot have', async ({ report }) => {
  await report.open('threads');
  // Results are those of any scheduler, measures are not.
  await expect(report.panel('Memory').locator('.di-note')).toContainText('only a distributed scheduler');
  await expect(report.panel('Fine metrics').locator('.di-empty')).toContainText(
    'No fine performance metrics'
  );
  expect(await report.column('Functions', 1)).toEqual(['8']);
});

test('an empty recording says in each panel why it is empty', async ({ report, page }) => {
  await report.open('empty');
  await expect(page.locator('.verdict')).toHaveText('No task ended while this was recorded.');
  for (const title of PANELS) await expect(report.panel(title).locator('.di-empty')).not.toBeEmpty();
  await expect(report.panel('Task stream').getByRole('searchbox')).toBeHidden();
});

test.describe('in another time zone', () => {
  test.use({ timezoneId: 'America/New_York' });

  test('a page tells in that when its run started, as its charts do', async ({ report, page }) => {
    await report.open('real');
    const [, written] = readFileSync(fileURLToPath(addressOf('real')), 'utf8').split(/<\/?time>/, 2);
    const told = await page.locator('.facts time').innerText();
    expect(told).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d-0[45]:00$/);
    expect(Date.parse(told)).toBe(Date.parse(written));
  });
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  for (const name of ['real', 'hostile'] satisfies ReportName[]) {
    test(`${name} is summed up in text`, async ({ page }) => {
      await page.goto(addressOf(name));
      await expect(page.locator('.verdict')).toContainText('computing');
      await expect(page.locator('noscript .notice')).toBeVisible();
      expect(await page.locator('noscript tr').count()).toBeGreaterThan(3);
    });
  }
});

test('a report of what still runs loads itself again, and stays where it is', async ({ report, page }) => {
  await report.open('going-on');
  await expect(page.locator('.summary .notice')).toContainText('up to date every 6');
  await report.panel('Functions').locator('tbody button').first().click();
  await expect(page).toHaveURL(/select=/);
  let seen = 0;
  await expect(async () => {
    seen = await page.evaluate(() => scrollY);
    expect(seen).toBeGreaterThan(500);
  }).toPass();
  await page.evaluate(() => {
    document.body.dataset.before = 'true';
  });
  await expect(page.locator('body[data-before]')).toHaveCount(0);
  await expect(async () => {
    expect(Math.abs((await page.evaluate(() => scrollY)) - seen)).toBeLessThan(100);
  }).toPass();
  await expect(page).toHaveURL(/select=/);
});

test('a report works inside a frame that may do nothing but run scripts', async ({ page }) => {
  const problems: string[] = [];
  page.on('pageerror', error => problems.push(error.message));
  await page.setContent('<iframe sandbox="allow-scripts" width="1200" height="700"></iframe>');
  const html = readFileSync(fileURLToPath(addressOf('real')), 'utf8');
  await page.locator('iframe').evaluate((frame: HTMLIFrameElement, text: string) => {
    frame.srcdoc = text;
  }, html);
  const inside = page.frameLocator('iframe');
  await expect(inside.locator('html[data-opened]')).toHaveCount(1);
  await inside.getByRole('button', { name: /^Theme/ }).click();
  const chooser = inside.getByRole('region', { name: 'Functions' }).locator('tbody button').first();
  await chooser.click();
  await expect(inside.locator('#page .di-chip').first()).toBeVisible();
  expect(problems).toEqual([]);
});

test('no frame shows a task stream that is not drawn', async ({ report, page }) => {
  await page.addInitScript(() => {
    const { port1, port2 } = new MessageChannel();
    const look = (): number => requestAnimationFrame(() => port2.postMessage(0));
    port1.onmessage = () => {
      const canvas = document.querySelector('.di-panel-task-stream canvas') as HTMLCanvasElement | null;
      // A canvas is 300 pixels wide until something is drawn on it.
      if (canvas) window.__firstWidth = canvas.width;
      else look();
    };
    look();
  });
  await report.open('synthetic');
  const width = await page.evaluate(() => window.__firstWidth);
  expect(width).toBeGreaterThan(1000);
});

test('nothing moves once it is there', async ({ report, page }) => {
  await page.addInitScript(() => {
    window.__moved = 0;
    new PerformanceObserver(list => {
      for (const entry of list.getEntries())
        window.__moved += (entry as PerformanceEntry & { value: number }).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  for (const name of ['synthetic', 'faulty', 'real'] satisfies ReportName[]) {
    await report.open(name);
    await report.settle();
    expect(await page.evaluate(() => window.__moved), name).toBeLessThan(0.005);
  }
});

test('a damaged part is named, and the others are shown', async ({ page }, info) => {
  const html = readFileSync(fileURLToPath(addressOf('real')), 'utf8');
  const damaged = html.replace(
    /(id="rest-0">.{200}).{4}/,
    (_, kept: string) => `${kept}\u00e9\u00e9\u00e9\u00e9`
  );
  expect(damaged).not.toBe(html);
  const path = info.outputPath('damaged.html');
  writeFileSync(path, damaged);
  await page.goto(pathToFileURL(path).href);
  await expect(page.locator('html[data-opened]')).toHaveCount(1);
  await expect(page.locator('.notice')).toContainText('(rest-0) is damaged and missing here');
  await expect(page.getByRole('region', { name: 'Task stream' }).locator('canvas').first()).toBeVisible();
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0);
});
