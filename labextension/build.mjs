import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const made = fileURLToPath(new URL('../dask_insight/labextension', import.meta.url));
const before = fileURLToPath(new URL('../build/labextension-before', import.meta.url));

/** Says why there is no new extension, and leaves the one that was there. */
function fail(words) {
  if (existsSync(before)) {
    rmSync(made, { recursive: true, force: true });
    renameSync(before, made);
  }
  console.error(`\nThe JupyterLab extension was not built: ${words}`);
  if (existsSync(made)) console.error('The one that was built before is left as it was.');
  process.exit(1);
}

/** Whether what JupyterLab loads first is there. */
function loads() {
  try {
    const { jupyterlab } = JSON.parse(readFileSync(`${made}/package.json`, 'utf8'));
    return existsSync(`${made}/${jupyterlab._build.load}`);
  } catch {
    return false;
  }
}

const builder = spawnSync('jupyter-builder', ['--version'], { encoding: 'utf8' });
if (builder.error || builder.status !== 0) {
  fail(
    'jupyter-builder does not run. Activate the environment that has it, ' +
      `or \`pip install jupyter-builder\` into the active one.\n${builder.stderr ?? builder.error?.message ?? ''}`
  );
}

// What JupyterLab brings along stays outside; the panels of src-ts come in.
await esbuild
  .build({
    entryPoints: [`${here}src/index.ts`],
    outfile: `${here}lib/index.js`,
    format: 'esm',
    bundle: true,
    external: ['@jupyterlab/*', '@lumino/*'],
    target: ['es2022'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'info'
  })
  .catch(() => fail('esbuild found the errors above.'));

rmSync(before, { recursive: true, force: true });
mkdirSync(fileURLToPath(new URL('../build', import.meta.url)), { recursive: true });
// Names of old files are no longer right beside new ones.
if (existsSync(made)) renameSync(made, before);
const { status } = spawnSync('jupyter-builder', ['build', here], { stdio: 'inherit' });
if (status !== 0) fail(`jupyter-builder ended with ${status}.`);
if (!loads()) fail('jupyter-builder left nothing that JupyterLab could load.');
rmSync(before, { recursive: true, force: true });
