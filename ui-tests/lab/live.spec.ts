import { cells, notebook } from './cells';
import { expect, test } from './test';

test.beforeEach(async ({ lab }) => {
  lab.write(
    'live.ipynb',
    notebook(cells.load, cells.cluster(), cells.tasks('early', 40), cells.busy('late', 'live-enough'))
  );
});

test('panels update while a cell is running', async ({ lab }) => {
  const live = await lab.open('live.ipynb');
  await lab.openPanel('Task stream');
  await lab.openPanel('Functions');
  await live.run(0);
  await live.run(1);
  await live.run(2);
  await expect.poll(() => lab.tasksOf('early')).toBe(40);

  await live.start(3);
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(20);
  const before = await lab.tasksOf('late');
  await expect.poll(() => lab.tasksOf('late')).toBeGreaterThan(before);
  const picture = await lab.fingerprint('Task stream');
  await expect.poll(() => lab.fingerprint('Task stream')).not.toBe(picture);
  await expect(live.prompt(3)).toHaveText('[*]:');

  lab.write('live-enough', '');
  await live.ended(3);
  await expect(live.output(3)).toContainText('enough of late');
});
