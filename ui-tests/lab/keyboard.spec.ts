import { cells, notebook } from './cells';
import { expect, test } from './test';

test('a panel is opened from the command palette and used without a mouse', async ({ lab }) => {
  lab.write('keys.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40)));
  const keys = await lab.open('keys.ipynb');
  for (const cell of [0, 1, 2]) await keys.run(cell);
  const { page } = lab;
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+C');
  await expect(page.locator('.lm-CommandPalette-input, .jp-ModalCommandPalette input').first()).toBeFocused();
  await page.keyboard.type('dask insight task stream');
  await expect(page.locator('.lm-CommandPalette-item').first()).toContainText('Task stream');
  await page.keyboard.press('Enter');
  const picture = lab.picture('Task stream');
  await expect(picture).toBeVisible();
  await expect(lab.panel('Task stream').locator(':focus')).toHaveCount(1);

  await picture.focus();
  const whole = await lab.fingerprint('Task stream');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await expect.poll(() => lab.fingerprint('Task stream')).not.toBe(whole);
  await page.keyboard.press('/');
  await expect(lab.panel('Task stream').getByRole('searchbox')).toBeFocused();
  await page.keyboard.type('early');
  await page.keyboard.press('Enter');
  await expect(lab.panel('Task stream').locator('.di-chip')).toHaveCount(1);
  await picture.focus();
  await page.keyboard.press('Escape');
  await expect(lab.panel('Task stream').locator('.di-chip')).toHaveCount(0);
});

test('the sidebar is walked through with Tab and Enter', async ({ lab }) => {
  lab.write('tab.ipynb', notebook('1'));
  await lab.open('tab.ipynb');
  const sidebar = await lab.sidebar();
  await sidebar.getByRole('searchbox').focus();
  const entry = lab.entry(sidebar, 'Memory');
  for (let step = 0; step < 40; step++) {
    if (await entry.evaluate(element => element === document.activeElement)) break;
    await lab.page.keyboard.press('Tab');
  }
  await expect(entry).toBeFocused();
  await lab.page.keyboard.press('Enter');
  await expect(lab.panel('Memory')).toBeVisible();
});
