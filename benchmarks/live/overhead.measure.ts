import { cells, notebook } from '../../ui-tests/lab/cells';
import type { Lab } from '../../ui-tests/lab/lab';
import { openFour, test } from './lab';
import { found, plan } from './results';

const MODES = ['bare', 'live'] as const;

/** Seconds of CPU that all processes of the browser have used so far. */
async function browserTime({ page }: Lab): Promise<number> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  if (!session) throw new Error('the browser has ended');
  const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as {
    processInfo: { cpuTime: number }[];
  };
  await session.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

test('what a computation costs with Lab open and four panels', async ({ lab }) => {
  test.setTimeout(3_600_000);
  const workloads = plan.quick ? ['trivial-2000'] : ['trivial-20000', 'array-8000'];
  const results: Record<string, Record<string, object[]>> = {};
  for (const workload of workloads) {
    results[workload] = { bare: [], live: [] };
    for (let round = 0; round < plan.rounds; round++) {
      for (const mode of round % 2 === 0 ? MODES : [...MODES].reverse()) {
        lab.write(
          'cost.ipynb',
          notebook(
            mode === 'live' ? cells.load : 'pass',
            `from benchmarks.live.cells import Cost\ncost = Cost("${workload}")`,
            'cost.run()',
            'cost.close()'
          )
        );
        const cost = await lab.open('cost.ipynb');
        await openFour(lab);
        await cost.run(0);
        await cost.start(1);
        await cost.ended(1, 120_000);
        const before = await browserTime(lab);
        await cost.start(2);
        await cost.ended(2, 600_000);
        const page = (await browserTime(lab)) - before;
        results[workload][mode].push({ ...JSON.parse(await cost.output(2).innerText()), page });
        await cost.run(3);
        await lab.clear();
      }
    }
  }
  found('overhead', results);
});
