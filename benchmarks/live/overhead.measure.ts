import { cells, notebook } from '../../ui-tests/lab/cells';
import { test } from '../../ui-tests/lab/test';
import { PANELS } from './panels';
import { found, plan } from './results';

const MODES = ['bare', 'live'] as const;

test('what a computation costs with Lab open and four panels', async ({ lab }) => {
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
            `from benchmarks.live.cells import cost\ncost("${workload}")`
          )
        );
        const cost = await lab.open('cost.ipynb');
        for (const panel of PANELS) await lab.openPanel(panel);
        await cost.run(0);
        await cost.start(1);
        await cost.ended(1, 600_000);
        results[workload][mode].push(JSON.parse(await cost.output(1).innerText()));
        await lab.clear();
      }
    }
  }
  found('overhead', results);
});
