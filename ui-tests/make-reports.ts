import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Makes the reports once for all tests; `REPORTS` names their folder. Returns what takes them away again. */
export default function makeReports(): (() => void) | undefined {
  if (process.env.REPORTS) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'dask-insight-reports-'));
  process.env.REPORTS = folder;
  execFileSync(process.env.PYTHON ?? 'python', [join(root, 'ui-tests', 'make_reports.py'), folder], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: root },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 180_000
  });
  return () => rmSync(folder, { recursive: true, force: true });
}
