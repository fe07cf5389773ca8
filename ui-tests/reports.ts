import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Where the reports stand that the tests open. */
export const REPORTS = join(root, 'build', 'reports');
const MADE = join(REPORTS, 'made');

/** Makes the reports, unless another worker of this run of tests has. */
export function makeReports(): void {
  if (existsSync(MADE)) return;
  mkdirSync(REPORTS, { recursive: true });
  execFileSync(process.env.PYTHON ?? 'python', [join(root, 'ui-tests', 'make_reports.py'), REPORTS], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: root },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 180_000
  });
  writeFileSync(MADE, '');
}

/** Before all tests: reports are made anew, but with `KEEP_REPORTS`. */
export default function forgetReports(): void {
  if (!process.env.KEEP_REPORTS) rmSync(REPORTS, { recursive: true, force: true });
}
