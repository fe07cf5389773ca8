// @vitest-environment node
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ColorRegistry } from './palette';

/** The pictures that Python draws have the colours of the page; `tests/test_notebook_outputs.py` reads this too. */
const golden: Record<string, [number, number, number]> = JSON.parse(
  readFileSync(new URL('../../tests/golden/colors.json', import.meta.url), 'utf8')
);

test('task names have the colours of the golden file', () => {
  const colors = new ColorRegistry();
  const names = Object.keys(golden);
  for (const name of names) colors.slot(name);
  expect(Object.fromEntries(names.map(name => [name, colors.color(name, false)]))).toEqual(golden);
});
