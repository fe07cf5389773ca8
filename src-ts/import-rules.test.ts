import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = dirname(fileURLToPath(import.meta.url));

interface Rule {
  /** Where the layer stands, seen from this folder. */
  folder: string;
  /** What its files may import: layers, and packages by pattern. */
  layers: string[];
  packages?: RegExp;
}

/** Only `labextension` knows Jupyter; `core` and `draw` do not know each other. */
const RULES: Record<string, Rule> = {
  core: { folder: 'core', layers: ['core'] },
  draw: { folder: 'draw', layers: ['draw'] },
  panels: { folder: 'panels', layers: ['panels', 'core', 'draw'] },
  hosts: { folder: 'hosts', layers: ['hosts', 'panels', 'core', 'draw'] },
  labextension: {
    folder: '../labextension',
    layers: ['labextension', 'hosts', 'panels', 'core', 'draw'],
    packages: /^@(jupyterlab|lumino)\/[a-z-]+$/
  }
};

/** Under this name the labextension imports what stands in this folder. */
const ALIAS = '@dask-insight/panels/';

const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|@import\s+)['"]([^'"]+)['"]/g;

/** Tests, and what only they import. */
const FOR_TESTS = /\.test\.ts$|(^|\/)test-[a-z-]+\.ts$/;

function rule(layer: string): Rule {
  return RULES[layer] as Rule;
}

/** The layer that a path is in. */
function layerOf(path: string): string | undefined {
  return Object.keys(RULES).find(layer => path.startsWith(`${join(root, rule(layer).folder)}/`));
}

function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, target]) => target as string);
}

function filesOf(layer: string): string[] {
  const folder = join(root, rule(layer).folder);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ts|css)$/.test(name) && !FOR_TESTS.test(name) && !name.includes('node_modules'))
    .map(name => join(folder, name));
}

/** What a file imports against the rules, in words. */
function breaches(layer: string, file: string): string[] {
  const { layers, packages } = rule(layer);
  const allowed = (target: string): boolean => {
    const path = target.startsWith('.')
      ? resolve(dirname(file), target)
      : target.startsWith(ALIAS)
        ? join(root, target.slice(ALIAS.length))
        : undefined;
    if (path === undefined) return packages?.test(target) ?? false;
    const to = layerOf(path);
    return to !== undefined && layers.includes(to);
  };
  return importsOf(file)
    .filter(target => !allowed(target))
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

test('pages that came over plain http are no secure contexts: what these lack is used where there is another way', () => {
  const secure = /randomUUID|navigator\.clipboard|crypto\.subtle/;
  const names = Object.keys(RULES)
    .flatMap(filesOf)
    .filter(file => secure.test(readFileSync(file, 'utf8')));
  expect(names.map(file => relative(root, file))).toEqual(['draw/tooltip.ts']);
});

test('no file takes text for markup', () => {
  const markup = /\.(innerHTML|outerHTML)\s*=|insertAdjacentHTML|document\.write/;
  const names = Object.keys(RULES)
    .flatMap(filesOf)
    .filter(file => markup.test(readFileSync(file, 'utf8')));
  expect(names.map(file => relative(root, file))).toEqual([]);
});
