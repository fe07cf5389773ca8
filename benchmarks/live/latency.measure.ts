import { cells, notebook } from '../../ui-tests/lab/cells';
import { expect, openFour, test } from './lab';
import { install } from './panels';
import { found, plan } from './results';

/**
 * Tasks a second that are asked for. Scheduler and worker live in the kernel: with processes of
 * their own a task costs twice the CPU, and two cores with a browser on them reach half the rate.
 */
const RATE = 1000;

test('from the end of a task to its rectangle, kernel busy', async ({ lab }) => {
  const seconds = plan.quick ? 5 : 20;
  lab.write(
    'latency.ipynb',
    notebook(
      cells.load,
      `from distributed import Client
client = Client(n_workers=1, threads_per_worker=8, processes=False, dashboard_address=None)
from benchmarks.live.cells import busy
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
    await lab.page.evaluate(() => window.probe.latencies());
    await latency.start(2 + round);
    await latency.ended(2 + round);
    const { tasks, seconds: took } = JSON.parse(await latency.output(2 + round).innerText());
    const seen: number[] = [];
    await expect
      .poll(async () => {
        seen.push(...(await lab.page.evaluate(() => window.probe.latencies())));
        return seen.length;
      })
      .toBeGreaterThanOrEqual(tasks);
    rounds.push({ rate: tasks / took, latencies: seen });
  }
  found('latency', rounds);
});
