import { cells, notebook } from '../../ui-tests/lab/cells';
import type { Lab } from '../../ui-tests/lab/lab';
import { openFour, test } from './lab';
import { found, plan } from './results';

const MODES = ['bare', 'live'] as const;
/** Pairs of turns in each round. */
const PAIRS = 4;

/** Cells of the notebook. */
const CELL = { live: 0, bare: 1, cluster: 2, prepare: 3, run: 4, close: 5 };

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
  const results: Record<string, Record<string, object[]>> = {};
  for (const workload of plan.workloads) {
    lab.write(
      'cost.ipynb',
      notebook(
        cells.load,
        '%unload_ext dask_insight',
        `from benchmarks.live.cells import Cost\ncost = Cost("${workload}")`,
        'cost.prepare()',
        'cost.run()',
        'cost.close()'
      )
    );
    const cost = await lab.open('cost.ipynb');
    await cost.run(CELL.live);
    await openFour(lab);
    await cost.start(CELL.cluster);
    await cost.ended(CELL.cluster, 120_000);
    results[workload] = { bare: [], live: [] };
    const turn = async (mode: (typeof MODES)[number]): Promise<object> => {
      await cost.run(CELL[mode]);
      await cost.start(CELL.prepare);
      await cost.ended(CELL.prepare, 120_000);
      const before = await browserTime(lab);
      await cost.start(CELL.run);
      await cost.ended(CELL.run, 600_000);
      const page = (await browserTime(lab)) - before;
      const told = JSON.parse(await cost.output(CELL.run).innerText());
      if (told.recorded !== (mode === 'live')) throw new Error(`${mode}, but recorded is ${told.recorded}`);
      return { ...told, page };
    };
    for (const mode of MODES) await turn(mode);
    for (let pair = 0; pair < (plan.quick ? 1 : PAIRS * plan.rounds); pair++) {
      for (const mode of pair % 2 === 0 ? MODES : [...MODES].reverse()) {
        results[workload][mode].push(await turn(mode));
      }
    }
    await cost.run(CELL.close);
    await lab.clear();
  }
  found('overhead', results);
});
