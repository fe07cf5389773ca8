import { cells, notebook } from '../../ui-tests/lab/cells';
import { expect, openFour, test } from './lab';
import { install, type Shown } from './panels';
import { found, plan } from './results';

/** Tasks a second that are asked for. The scheduler lives in the kernel, the worker in a process of its own. */
const RATE = 1000;

test('from the end of a task to its rectangle, kernel busy', async ({ lab }) => {
  const seconds = plan.quick ? 5 : 20;
  lab.write(
    'latency.ipynb',
    notebook(
      cells.load,
      `from benchmarks.live.cells import busy, one_worker
client = one_worker()
client.gather(client.map(abs, range(500)));`,
      ...Array.from({ length: plan.rounds }, () => `busy(client, ${RATE}, ${seconds})`)
    )
  );
  const latency = await lab.open('latency.ipynb');
  await latency.run(0);
  await latency.run(1);
  await openFour(lab);
  await install(lab);
  await expect.poll(() => lab.page.evaluate(() => window.probe.tasks())).toBeGreaterThan(400);
  const rounds = [];
  for (let round = 0; round < plan.rounds; round++) {
    await lab.page.evaluate(() => window.probe.shown());
    await latency.start(2 + round);
    await latency.ended(2 + round);
    const { tasks } = JSON.parse(await latency.output(2 + round).innerText());
    const shown: Shown[] = [];
    await expect
      .poll(async () => {
        shown.push(...(await lab.page.evaluate(() => window.probe.shown())));
        return shown.length;
      })
      .toBeGreaterThanOrEqual(tasks);
    const ends = shown.map(({ ended }) => ended).sort((a, b) => a - b);
    const took = ends[ends.length - 1] - ends[0];
    rounds.push({ rate: (ends.length - 1) / took, latencies: shown.map(({ late }) => late) });
  }
  found('latency', rounds);
});
