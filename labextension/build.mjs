import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

// What JupyterLab brings along stays outside; the panels of src-ts come in.
await esbuild.build({
  entryPoints: [`${here}src/index.ts`],
  outfile: `${here}lib/index.js`,
  format: 'esm',
  bundle: true,
  external: ['@jupyterlab/*', '@lumino/*'],
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'info'
});

rmSync(`${here}../dask_insight/labextension`, { recursive: true, force: true });
const built = spawnSync('jupyter-builder', ['build', here], { stdio: 'inherit' });
if (built.error?.code === 'ENOENT') {
  console.error('jupyter-builder was not found: `pip install jupyter-builder` into the active environment.');
}
process.exit(built.status ?? 1);
