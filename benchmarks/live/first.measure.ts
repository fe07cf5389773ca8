import { cells, notebook } from '../../ui-tests/lab/cells';
import type { Lab } from '../../ui-tests/lab/lab';
import { expect, test } from './lab';
import { install } from './panels';
import { found, plan } from './results';
import { cluster } from './work';

const DRAWN = {
  'task-stream': 'Task stream',
  'time-budget': 'Time budget',
  'flame-graph': 'Flame graph',
  resources: 'Resources',
  memory: 'Memory'
};

/** Milliseconds from the command that opens each panel to its first picture. */
async function opened(lab: Lab): Promise<Record<string, number>> {
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
  return times;
}

test('from opening a panel to its first picture', async ({ lab }) => {
  const tasks = plan.quick ? 5_000 : 200_000;
  const work = await cluster();
  try {
    lab.write(
      'first.ipynb',
      notebook(cells.load, `from distributed import Client\nclient = Client("${work.address}")`)
    );
    const first = await lab.open('first.ipynb');
    await lab.openPanel('Functions');
    await first.run(0);
    await first.run(1);
    await work.tell(`run ${tasks}`);
    await install(lab);
    await expect.poll(() => lab.page.evaluate(() => window.probe.tasks())).toBeGreaterThan(0.99 * tasks);
    const all: { rest: Record<string, number>; busy: Record<string, number> }[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      const rest = await opened(lab);
      const trickle = work.tell('trickle 8');
      all.push({ rest, busy: await opened(lab) });
      await trickle;
    }
    found('first', { tasks, rounds: all });
  } finally {
    work.end();
  }
});
