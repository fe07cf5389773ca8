/** Prints one script with all that it imports: node bundle.mjs ENTRY */
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const built = await esbuild.build({
  entryPoints: [process.argv[2]],
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
  write: false,
  nodePaths: [fileURLToPath(new URL('node_modules', import.meta.url))]
});
process.stdout.write(built.outputFiles[0].text);
