import { cells, notebook } from '../../ui-tests/lab/cells';
import { expect, test } from '../../ui-tests/lab/test';
import { install } from './panels';
import { found, plan } from './results';

const DRAWN = {
  'task-stream': 'Task stream',
  'flame-graph': 'Flame graph',
  resources: 'Resources',
  memory: 'Memory'
};

test('from opening a panel to its first picture', async ({ lab }) => {
  const tasks = plan.quick ? 2_000 : 20_000;
  lab.write(
    'first.ipynb',
    notebook(
      cells.load,
      `from distributed import Client
client = Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")
from benchmarks.live.cluster import run
run(client, ${tasks})`
    )
  );
  const first = await lab.open('first.ipynb');
  await lab.openPanel('Functions');
  await first.run(0);
  await first.run(1);
  await install(lab);
  await expect.poll(() => lab.page.evaluate(() => window.probe.tasks())).toBeGreaterThanOrEqual(tasks);
  const rounds: Record<string, number>[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const times: Record<string, number> = {};
    for (const [id, title] of Object.entries(DRAWN)) {
      times[title] = await lab.page.evaluate(
        panel =>
          window.probe.firstPicture(panel, () => {
            void window.jupyterapp.commands.execute('dask-insight:open', { panel });
          }),
        id
      );
      await lab.closePanel(title);
    }
    rounds.push(times);
  }
  found('first', rounds);
});
