import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from './test';

const GUIDE = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../docs/guide.ipynb', import.meta.url)), 'utf8')
);

interface Cell {
  readonly cell_type: string;
  readonly id: string;
  readonly source: string[];
  readonly outputs?: object[];
  readonly execution_count?: number | null;
}

test('the guided notebook is committed clean, and runs from its first cell to its last', async ({ lab }) => {
  const all: Cell[] = GUIDE.cells;
  for (const cell of all) {
    expect(cell.outputs ?? []).toEqual([]);
    expect(cell.execution_count ?? null).toBeNull();
  }
  const short = structuredClone(GUIDE);
  for (const cell of short.cells as Cell[]) {
    cell.source.splice(
      0,
      cell.source.length,
      ...cell.source.map(line => line.replace('range(10)', 'range(2)'))
    );
  }
  lab.write('guide.ipynb', short);
  const guide = await lab.open('guide.ipynb');
  await lab.openPanel('Task stream');
  for (const [index, { cell_type }] of all.entries()) {
    if (cell_type === 'code') await guide.run(index);
  }
  await expect(lab.panel('Task stream').first().locator('.di-legend-name')).not.toHaveCount(0);
  const models = all.findIndex(({ id }) => id === 'models');
  await guide.cell(models).scrollIntoViewIfNeeded();
  await expect(guide.output(models).getByRole('region', { name: 'Task stream' })).toBeVisible();
});
