// @vitest-environment node
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ColorRegistry } from './palette';

/** The pictures that Python draws have the colours of the page; `tests/test_notebook_outputs.py` reads this too. */
const golden: Record<'light' | 'dark', Record<string, [number, number, number]>> = JSON.parse(
  readFileSync(new URL('../../tests/golden/colors.json', import.meta.url), 'utf8')
);

test.each(['light', 'dark'] as const)('task names have the %s colours of the golden file', scheme => {
  const colors = new ColorRegistry();
  const names = Object.keys(golden[scheme]);
  for (const name of names) colors.slot(name);
  const got = names.map(name => [name, colors.color(name, { dark: scheme === 'dark', contrast: false })]);
  expect(Object.fromEntries(got)).toEqual(golden[scheme]);
});
