import { cells, notebook } from './cells';
import { expect, test } from './test';

/** They begin with a letter, since Dask takes a name apart that does not. */
const NAMES = [
  'a<img src=x onerror="window.__pwned = 1">',
  'b</script><script>window.__pwned = 1</script>',
  "c'; window.__pwned = 1; //",
  'd"><svg onload="window.__pwned = 1">',
  'k'.repeat(3000)
];

/** The name of a recorded cell. */
const RUN = 'run<img src=x onerror=window.__pwned=1>';

test('names of tasks and runs are text, whatever stands in them', async ({ lab }) => {
  lab.write(
    'hostile.ipynb',
    notebook(
      cells.load,
      cells.cluster(1),
      `import time
def spin(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass
def fail():
    raise ValueError('<img src=x onerror="window.__pwned = 1">')
names = ${JSON.stringify(NAMES)}
for name in names:
    client.submit(abs, 1, key=(name, 0)).result()
client.submit(spin, 0.3, key=(names[1], 1)).result()
client.submit(fail, key=(names[3], 1)).exception();`,
      `%%dprofile "${RUN}"
client.submit(abs, 1, key=(names[0], 1)).result()`
    )
  );
  const hostile = await lab.open('hostile.ipynb');
  for (const panel of ['Task stream', 'Functions', 'Flame graph', 'Time budget']) await lab.openPanel(panel);
  for (const cell of [0, 1, 2]) await hostile.run(cell);
  await lab.openPanel('Flame graph');
  await lab.panel('Flame graph').getByRole('button', { name: 'Show as table' }).click();
  await expect(lab.panel('Flame graph').getByRole('table')).toContainText('spin');
  await lab.openPanel('Functions');
  for (const name of NAMES.slice(0, 4)) {
    await expect(lab.panel('Functions').getByRole('row').filter({ hasText: name })).toHaveCount(1);
  }
  await lab.openPanel('Task stream');
  const picture = lab.picture('Task stream');
  await picture.focus();
  await lab.page.keyboard.press('Enter');
  for (let step = 0; step < NAMES.length; step++) await lab.page.keyboard.press('ArrowRight');
  await lab.panel('Task stream').getByRole('button', { name: 'Show as table' }).click();
  await expect(lab.panel('Task stream').getByRole('table')).toContainText(NAMES[0]);
  await hostile.run(3);
  await hostile.cell(3).scrollIntoViewIfNeeded();
  await expect(hostile.output(3)).toContainText(RUN);
  await expect(hostile.output(3).getByRole('region', { name: 'Task stream' })).toBeVisible();
  expect(await lab.page.evaluate(() => window.__pwned)).toBeUndefined();
});
