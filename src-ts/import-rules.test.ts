import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = dirname(fileURLToPath(import.meta.url));

/** Which layers the files of a layer may import; `core` and `draw` do not know each other. */
const RULES: Record<string, { layers: string[]; packages: string[] }> = {
  core: { layers: ['core'], packages: ['@msgpack/msgpack'] },
  draw: { layers: ['draw'], packages: [] },
  panels: { layers: ['panels', 'core', 'draw'], packages: [] },
  hosts: { layers: ['hosts', 'panels', 'core', 'draw'], packages: [] }
};

const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|@import\s+)['"]([^'"]+)['"]/g;

function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, target]) => target as string);
}

function filesOf(layer: string): string[] {
  return readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ts|css)$/.test(name) && !name.endsWith('.test.ts'))
    .map(name => join(root, layer, name));
}

/** What a file imports against the rules, in words. */
function breaches(layer: string, file: string): string[] {
  const { layers, packages } = RULES[layer] as (typeof RULES)[string];
  return importsOf(file)
    .filter(target => {
      if (!target.startsWith('.')) return !packages.includes(target);
      const [to] = relative(root, resolve(dirname(file), target)).split('/');
      return !layers.includes(to as string);
    })
    .map(target => `${relative(root, file)} imports ${target}`);
}

test.each(Object.keys(RULES))('%s imports only what stands below it', layer => {
  expect(filesOf(layer).flatMap(file => breaches(layer, file))).toEqual([]);
});

test('core works without a page', () => {
  const page = /\b(document|window|HTMLElement|CanvasRenderingContext2D|localStorage)\b\s*[.(]/;
  const names = filesOf('core').filter(file => page.test(readFileSync(file, 'utf8')));
  expect(names.map(file => relative(root, file))).toEqual([]);
});

test('no file takes text for markup', () => {
  const markup = /\.(innerHTML|outerHTML)\s*=|insertAdjacentHTML|document\.write/;
  const names = Object.keys(RULES)
    .flatMap(filesOf)
    .filter(file => markup.test(readFileSync(file, 'utf8')));
  expect(names.map(file => relative(root, file))).toEqual([]);
});
