import { readFileSync } from 'node:fs';
import { expect, test } from './report';

const PICTURES = [
  'Time budget',
  'Task stream',
  'Critical path',
  'Resources',
  'Memory',
  'Flame graph',
  'Fine metrics',
  'Progress',
  'Transfers'
];

/** Colour of a picture's top right corner, where nothing is drawn. */
const corner = (canvas: HTMLCanvasElement): number[] => {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  return [...context.getImageData(canvas.width - 1, 0, 1, 1).data.subarray(0, 3)];
};

for (const [theme, least, most] of [
  ['light', 240, 255],
  ['dark', 0, 40]
] as const) {
  test.describe(theme, () => {
    test.use({ colorScheme: theme });

    test(`pictures are drawn for a ${theme} page`, async ({ report, page }) => {
      await report.open('real');
      for (const title of PICTURES) {
        await report.picture(title).scrollIntoViewIfNeeded();
        await report.settle();
        for (const level of await report.picture(title).locator('canvas').first().evaluate(corner)) {
          expect(level).toBeGreaterThanOrEqual(least);
          expect(level).toBeLessThanOrEqual(most);
        }
      }
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const [red] = (background.match(/\d+/g) ?? []).map(Number);
      expect(red >= least && red <= most).toBe(true);
    });
  });
}

test('the theme can be switched by hand, and pictures follow', async ({ report, page }) => {
  await report.open('real');
  const before = await report.fingerprint('Task stream');
  await page.getByRole('button', { name: /^Theme/ }).click();
  await page.getByRole('button', { name: 'Theme: light' }).click();
  await expect(page.getByRole('button', { name: 'Theme: dark' })).toBeVisible();
  await expect.poll(() => report.fingerprint('Task stream')).not.toBe(before);
});

for (const width of [420, 768, 1920]) {
  test(`nothing sticks out at ${width} pixels`, async ({ report, page }) => {
    await page.setViewportSize({ width, height: 800 });
    await report.open('real');
    for (const title of PICTURES) {
      await report.picture(title).scrollIntoViewIfNeeded();
      await report.settle();
    }
    const outside = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(outside).toBeLessThanOrEqual(0);
    const charts = ['Task stream', 'Resources', 'Memory'];
    const places = await Promise.all(charts.map(title => report.picture(title).boundingBox()));
    expect(new Set(places.map(box => box?.x)).size).toBe(1);
    expect(new Set(places.map(box => box?.width)).size).toBe(1);
  });
}

test('flame graph and fine metrics stand side by side where there is room', async ({ report, page }) => {
  await report.open('real');
  const beside = async (): Promise<boolean> => {
    const [flame, fine] = await Promise.all(
      ['Flame graph', 'Fine metrics'].map(title => report.panel(title).boundingBox())
    );
    return flame !== null && fine !== null && Math.abs(flame.y - fine.y) < 2;
  };
  expect(await beside()).toBe(true);
  await page.setViewportSize({ width: 420, height: 800 });
  await expect.poll(beside).toBe(false);
});

test('pictures are saved as PNG and SVG with title and source', async ({ report, page }) => {
  await report.open('real');
  for (const title of PICTURES) {
    const panel = report.panel(title);
    await panel.scrollIntoViewIfNeeded();
    for (const [kind, label] of [
      ['png', 'PNG picture'],
      ['svg', 'SVG drawing']
    ]) {
      await panel.locator('[aria-label="Save picture"]').click();
      const waiting = page.waitForEvent('download');
      await panel.getByRole('button', { name: label }).click();
      const download = await waiting;
      expect(download.suggestedFilename()).toMatch(new RegExp(`\\.${kind}$`));
      const bytes = readFileSync(await download.path());
      expect(bytes.length).toBeGreaterThan(1000);
      if (kind === 'svg') {
        const text = bytes.toString('utf8');
        expect(text).toContain(title);
        expect(text).toContain('dask_insight');
      } else {
        expect([...bytes.subarray(1, 4)]).toEqual([...Buffer.from('PNG')]);
      }
    }
  }
});

test.describe('on paper', () => {
  test.use({ colorScheme: 'dark' });

  test('the page is light, as wide as the paper, whole, and has no controls', async ({ report, page }) => {
    await report.open('real');
    const dark = await report.picture('Task stream').locator('canvas').first().evaluate(corner);
    expect(Math.max(...dark)).toBeLessThan(40);
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await expect(page.locator('.di-actions').first()).toBeHidden();
    await expect(page.locator('.di-print')).toHaveCount(PICTURES.length);
    for (const title of PICTURES) {
      const light = await report.picture(title).locator('canvas').first().evaluate(corner);
      expect(Math.min(...light)).toBeGreaterThan(240);
      const picture = report.picture(title).locator('.di-print');
      expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(688);
    }
    expect((await report.column('Workers', 0)).length).toBe(2);
    const places = report.panel('Functions').locator('tbody tr > :last-child');
    const widths = await places.evaluateAll(all => all.map(cell => cell.getBoundingClientRect().width));
    expect(Math.min(...widths)).toBeGreaterThan(100);
    const tables = await page
      .locator('.di-table')
      .evaluateAll(all =>
        all.map(table => [
          table.getBoundingClientRect().bottom -
            (table.closest('.di-panel')?.getBoundingClientRect().bottom ?? 0),
          table.getBoundingClientRect().width
        ])
      );
    expect(tables.length).toBeGreaterThan(2);
    for (const [below, width] of tables) {
      expect(below).toBeLessThanOrEqual(0);
      expect(width).toBeLessThanOrEqual(688);
    }

    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    await expect(page.locator('.di-print')).toHaveCount(0);
    await expect
      .poll(() => report.picture('Task stream').locator('canvas').first().evaluate(corner))
      .toEqual(dark);
  });

  test('printing makes a document of a few pages', async ({ report, page }) => {
    await report.open('real');
    const bytes = await page.pdf({ format: 'A4', printBackground: true });
    const pages = bytes.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(1);
    // As many names, lanes and rows as the run happens to have.
    expect(pages.length).toBeLessThan(9);
    expect(bytes.toString('latin1')).toContain('/Subtype /Image');
  });
});

test('a menu opens within the window of a phone', async ({ report, page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await report.open('real');
  const resources = report.panel('Resources');
  await resources.scrollIntoViewIfNeeded();
  await resources.locator('summary', { hasText: 'Measures' }).click();
  const menu = resources.locator('details[open] .di-menu');
  await expect(menu.getByText('CPU', { exact: true })).toBeVisible();
  const place = await menu.boundingBox();
  expect(place?.x).toBeGreaterThanOrEqual(0);
  expect((place?.x ?? 0) + (place?.width ?? 0)).toBeLessThanOrEqual(390);
  await page.mouse.click(380, 20);
  await expect(menu).toBeHidden();
});

test('what a choice leaves out stands under the time budget of a phone, not over its head', async ({
  report,
  page
}) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await report.open('faulty');
  const note = report.panel('Time budget').locator('header > .di-note');
  const finding = report.panel('Findings').getByRole('listitem').filter({ hasText: 'failed' }).first();
  await finding.locator('.di-finding-title').click();
  await expect(note).toContainText('Left out');
  const [told, drawn] = await Promise.all(
    [note, report.picture('Time budget')].map(each => each.boundingBox())
  );
  expect(told?.y).toBeGreaterThanOrEqual((drawn?.y ?? 0) + (drawn?.height ?? 0));
});

test('a search box gives way to the words in its head', async ({ report, page }) => {
  await page.setViewportSize({ width: 1000, height: 800 });
  await report.open('real');
  const note = report.panel('Flame graph').locator('header > .di-note');
  await report.picture('Flame graph').scrollIntoViewIfNeeded();
  await expect(note).toContainText('sampled');
  // Less than a pixel too narrow, words end in dots.
  const cut = await note.evaluate(each => {
    const words = document.createRange();
    words.selectNodeContents(each);
    return words.getBoundingClientRect().width - each.getBoundingClientRect().width;
  });
  expect(cut).toBeLessThan(0.05);
  const search = await report.panel('Flame graph').locator('.di-search').boundingBox();
  expect(search?.width).toBeLessThan(190);
});

test('where there is nothing to note, no room is left for it', async ({ report }) => {
  await report.open('threads');
  const note = report.panel('Task stream').locator(':scope > .di-note');
  await expect(note).toHaveCount(1);
  await expect(note).toBeHidden();
});

for (const width of [1280, 390]) {
  test(`of a long name in a table both ends are in sight, ${width} wide`, async ({ report, page }) => {
    await page.setViewportSize({ width, height: 800 });
    await report.open('hostile');
    const functions = report.panel('Functions');
    await functions.scrollIntoViewIfNeeded();
    const name = functions.locator('tbody th').filter({ hasText: '</script><script>window' }).first();
    await expect(name).toHaveText('</script><script>window.__pwned = 1</script>');
    const [cut, end, right] = await name.evaluate(cell => {
      const range = document.createRange();
      range.selectNodeContents(cell.querySelector('bdi')?.lastChild ?? cell);
      const widths = [...cell.querySelectorAll('.di-cut')].map(each => each.getBoundingClientRect().width);
      return [widths, range.getBoundingClientRect().right, cell.getBoundingClientRect().right];
    });
    // Where it is cut, three dots stand for its middle, and no gap.
    expect(cut).toEqual(width > 440 ? [] : [expect.closeTo(12, -1)]);
    expect(end).toBeLessThanOrEqual(right);
  });
}

test('what is asked and what was found stands there whole, in two lines where one is too short', async ({
  report,
  page
}) => {
  await page.setViewportSize({ width: 720, height: 800 });
  await report.open('faulty');
  for (const [title, words] of [
    ['Findings', '.di-finding-words'],
    ['What if', '.di-what-if-name']
  ]) {
    const told = report.panel(title).locator(words);
    await expect(told.first()).toBeVisible();
    const cut = await told.evaluateAll(all =>
      all.filter(each => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight + 2)
    );
    expect(cut).toEqual([]);
  }
});

test('lines of a card stand in the same two columns', async ({ report }) => {
  await report.open('real');
  await report.hover('Task stream', 8);
  const values = report.card().locator('dd:visible');
  const places = await values.evaluateAll(all => all.map(each => each.getBoundingClientRect().x));
  expect(places.length).toBeGreaterThan(4);
  expect(new Set(places).size).toBe(1);
});

test('a card on a phone covers nothing of what it tells of', async ({ report, page }) => {
  await page.setViewportSize({ width: 390, height: 700 });
  await report.open('real');
  const box = await report.place('Task stream');
  await report.hover('Task stream', 8);
  const mouse = await report.card().boundingBox();
  expect(mouse).not.toBeNull();
  if (mouse === null) return;
  const isBeside = mouse.y >= box.y + 8 || mouse.y + mouse.height <= box.y + 8;
  expect(isBeside).toBe(true);
});

test.describe('high contrast', () => {
  test.use({ contextOptions: { forcedColors: 'active' } });

  test('all buttons of a panel have one colour', async ({ report }) => {
    await report.open('real');
    const colors = await report
      .panel('Task stream')
      .locator('.di-actions .di-icon:visible')
      .evaluateAll(all => all.map(each => getComputedStyle(each).color));
    expect(colors.length).toBeGreaterThan(2);
    expect(new Set(colors).size).toBe(1);
  });

  test('a button that is pressed looks like no other', async ({ report }) => {
    await report.open('real');
    const button = report.panel('Task stream').getByRole('button', { name: 'Show as table' });
    const border = (): Promise<string> => button.evaluate(each => getComputedStyle(each).border);
    const before = await border();
    await button.click();
    expect(await border()).not.toBe(before);
  });

  test('bars of a comparison keep their colours', async ({ report }) => {
    await report.open('compared');
    const colors = await report
      .panel('Compare')
      .locator('.di-side-part')
      .evaluateAll(all => all.map(each => getComputedStyle(each).backgroundColor));
    expect(new Set(colors).size).toBeGreaterThan(2);
  });
});
