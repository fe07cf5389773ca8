import { cells, notebook } from './cells';
import { expect, test } from './test';

/** Colour of a picture's top right corner, where nothing is drawn. */
const corner = (canvas: HTMLCanvasElement): number => {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  return Math.max(...context.getImageData(canvas.width - 1, 0, 1, 1).data.subarray(0, 3));
};

test('pictures follow the theme at once', async ({ lab }) => {
  lab.write('theme.ipynb', notebook(cells.load, cells.cluster(), cells.tasks('early', 40)));
  const theme = await lab.open('theme.ipynb');
  await lab.openPanel('Task stream');
  for (const cell of [0, 1, 2]) await theme.run(cell);
  const canvas = lab.picture('Task stream').locator('canvas').first();
  await expect(canvas).toBeVisible();
  const background = (): Promise<number> => canvas.evaluate(corner);
  await expect.poll(background).toBeGreaterThan(230);
  for (const [name, dark] of [
    ['JupyterLab Dark', true],
    ['JupyterLab Dark High Contrast', true],
    ['JupyterLab Light', false]
  ] as const) {
    const before = await lab.fingerprint('Task stream');
    await lab.execute('apputils:change-theme', { theme: name });
    if (dark) await expect.poll(background).toBeLessThan(60);
    else await expect.poll(background).toBeGreaterThan(230);
    expect(await lab.fingerprint('Task stream')).not.toBe(before);
  }
});
