import { cells, notebook } from './cells';
import { expect, test } from './test';

/** Forty tasks, the first of which runs until the file `what-if-enough` stands beside the notebook. */
const naps = `
import os, time
enough = os.path.abspath("what-if-enough")
def nap(number):
    while number == 0 and not os.path.exists(enough):
        time.sleep(0.02)
    time.sleep(0.02)
    return number
len(client.gather(client.map(nap, range(40))))`;

test('what-if waits for tasks to end, then shows bounds and answers', async ({ lab }) => {
  lab.remove('what-if-enough');
  lab.write('what-if.ipynb', notebook(cells.load, cells.cluster(), naps));
  const path = await lab.open('what-if.ipynb');
  await lab.openPanel('What if');
  const panel = lab.panel('What if');
  await path.run(0);
  await path.run(1);
  await path.start(2);
  await expect(panel).toContainText('as soon as no task is running');

  lab.write('what-if-enough', '');
  await path.ended(2);
  await expect(panel.getByRole('listitem').first()).toContainText('Recorded');
  await expect(panel).toContainText('The recorded run itself is simulated as');
  const faster = panel.getByRole('button', { name: /nap 2 times faster/ });
  await faster.click();
  await expect(faster).toHaveAttribute('aria-pressed', 'true');
});
