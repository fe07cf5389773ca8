import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from '@playwright/test';
import { REPORTS } from './reports';

const root = fileURLToPath(new URL('..', import.meta.url));

test('reports of real and of hostile runs are made', () => {
  rmSync(REPORTS, { recursive: true, force: true });
  mkdirSync(REPORTS, { recursive: true });
  execFileSync(process.env.PYTHON ?? 'python', [join(root, 'ui-tests', 'make_reports.py'), REPORTS], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: root },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 180_000
  });
});
