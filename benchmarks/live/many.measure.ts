import { cells, notebook } from '../../ui-tests/lab/cells';
import type { Lab } from '../../ui-tests/lab/lab';
import { expect, openFour, test } from './lab';
import { install } from './panels';
import { found, plan } from './results';
import { cluster } from './work';

/** Bytes of the page's own memory after a collection: objects, and what typed arrays hold. */
async function heap(lab: Lab): Promise<number> {
  const session = await lab.page.context().newCDPSession(lab.page);
  await session.send('HeapProfiler.collectGarbage');
  const usage = (await session.send('Runtime.getHeapUsage')) as {
    usedSize: number;
    backingStorageSize?: number;
  };
  await session.detach();
  return usage.usedSize + (usage.backingStorageSize ?? 0);
}

test('many tasks live in one kernel', async ({ lab }) => {
  const tasks = plan.quick ? 5_000 : 200_000;
  const work = await cluster();
  try {
    lab.write(
      'many.ipynb',
      notebook(
        cells.load,
        `from distributed import Client
client = Client("${work.address}")
from benchmarks.live.cells import memory`,
        'memory()',
        'memory()'
      )
    );
    const many = await lab.open('many.ipynb');
    await openFour(lab);
    await many.run(0);
    await many.run(1);
    await work.tell('run 1000');
    await install(lab);
    await expect.poll(() => lab.page.evaluate(() => window.probe.tasks())).toBeGreaterThanOrEqual(1000);
    await many.run(2);
    const before = { rss: JSON.parse(await many.output(2).innerText()).rss, heap: await heap(lab) };
    await work.tell(`run ${tasks - 1000}`);
    await expect
      .poll(() => lab.page.evaluate(() => window.probe.tasks()))
      .toBeGreaterThanOrEqual(0.99 * tasks);
    await many.run(3);
    const after = { rss: JSON.parse(await many.output(3).innerText()).rss, heap: await heap(lab) };
    const pans: number[][] = [];
    for (let round = 0; round < plan.rounds; round++) {
      const trickle = work.tell('trickle 6');
      pans.push(await lab.page.evaluate(() => window.probe.pan(120)));
      await trickle;
    }
    found('many', { tasks, before, after, pans });
  } finally {
    work.end();
  }
});
