import { fileURLToPath } from 'node:url';

/** Where the reports stand that the tests open; with `--no-deps`, those made by the run before. */
export const REPORTS = fileURLToPath(new URL('../build/reports', import.meta.url));
