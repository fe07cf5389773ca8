import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Panels stand in VS Code, Colab and marimo too, and in a file: nothing here may need JupyterLab. */
const folder = fileURLToPath(new URL('.', import.meta.url));

function* sources(ending: string): Generator<[string, string]> {
  for (const each of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!each.endsWith(ending) || each.includes('.test.')) continue;
    yield [each, readFileSync(join(folder, each), 'utf8')];
  }
}

test("every colour and font of JupyterLab's has one to stand in for it", () => {
  const bare = [...sources('.css')].filter(([, text]) => /var\(\s*--jp-[\w-]+\s*\)/.test(text));
  expect(bare.map(([name]) => name)).toEqual([]);
});

test('nothing asks for the application around it', () => {
  const asking = [...sources('.ts')].filter(([, text]) => /jupyterapp|@jupyterlab\/|@lumino\//.test(text));
  expect(asking.map(([name]) => name)).toEqual([]);
});
