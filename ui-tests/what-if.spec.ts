import { expect, test } from './report';

const TITLE = 'What if';

test('it shows the run, its bounds and what would change it on one scale', async ({ report }) => {
  await report.open('synthetic');
  const panel = report.panel(TITLE);
  await panel.scrollIntoViewIfNeeded();
  const lines = panel.getByRole('listitem');
  await expect(lines.first()).toContainText('Recorded');
  await expect(lines.nth(1)).toContainText('Longest chain of tasks');
  await expect(panel).toContainText('The recorded run itself is simulated as');
  const answers = panel.getByRole('list').last().getByRole('listitem');
  expect(await answers.count()).toBeGreaterThan(3);
  await expect(answers.first()).toContainText('With 8 workers instead of 4');
  const widths = await panel
    .locator('.di-what-if-bar')
    .evaluateAll(bars => bars.map(bar => bar.getBoundingClientRect().width));
  expect(Math.max(...widths) - Math.min(...widths)).toBeLessThan(0.5);
});

test('a click on a faster function narrows the other panels, and takes it back', async ({ report }) => {
  await report.open('synthetic');
  const panel = report.panel(TITLE);
  await panel.scrollIntoViewIfNeeded();
  const faster = panel.getByRole('button', { name: /2 times faster/ }).first();
  const name = await faster.locator('code').innerText();
  await faster.click();
  await expect(faster).toHaveAttribute('aria-pressed', 'true');
  await expect(report.chips('Task stream')).toContainText(name);
  await faster.click();
  await expect(report.chips('Task stream')).toHaveCount(0);
});

test('it says why there is nothing to simulate, and stays within a narrow window', async ({
  report,
  page
}) => {
  await report.open('empty');
  await expect(report.panel(TITLE)).toContainText('No finished task was recorded');
  await page.setViewportSize({ width: 420, height: 800 });
  await report.open('real');
  const panel = report.panel(TITLE);
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.getByRole('listitem').first()).toContainText('Recorded');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(420);
});

test('a long name gives way to what is asked of it', async ({ report }) => {
  await report.open('synthetic');
  const panel = report.panel(TITLE);
  await panel.scrollIntoViewIfNeeded();
  const faster = panel.getByRole('button', { name: /2 times faster/ }).first();
  await faster.locator('code').evaluate(code => {
    code.textContent = 'a-name-'.repeat(40);
  });
  const [whole, sight] = await faster.evaluate(each => [each.scrollWidth, each.clientWidth]);
  expect(whole).toBeLessThanOrEqual(sight);
});
