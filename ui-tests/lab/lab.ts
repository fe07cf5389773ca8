import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, expect, type Locator, type Page } from '@playwright/test';
import { Notebook } from './notebook';
import type { LabServer } from './server';

declare global {
  interface Window {
    /** JupyterLab itself; the test server's settings put it there. */
    // biome-ignore lint/suspicious/noExplicitAny: Lab's own types would pull all of Lab into the tests.
    jupyterapp: any;
    __pwned?: unknown;
  }
}

/** Stands in a complaint that is about us, or in its stack. */
const OURS = /dask.?insight/i;

/** A page of JupyterLab, handled as a person would. */
export class Lab {
  /** Errors of ours that nobody caught, complaints of ours, dialogs of the browser. */
  readonly problems: string[] = [];

  constructor(
    readonly page: Page,
    readonly server: LabServer
  ) {
    page.on('pageerror', error => {
      const { stack = error.message } = error;
      if (OURS.test(stack)) this.problems.push(stack);
    });
    page.on('console', message => {
      if (message.type() === 'error' && OURS.test(message.text() + message.location().url)) {
        this.problems.push(message.text());
      }
    });
    page.on('dialog', dialog => {
      if (dialog.type() !== 'beforeunload') this.problems.push(`dialog: ${dialog.message()}`);
      void dialog.accept();
    });
  }

  /** Opens the application in a page of its own. */
  static async start(context: BrowserContext, server: LabServer, address = 'lab'): Promise<Lab> {
    const lab = new Lab(await context.newPage(), server);
    await lab.page.goto(server.url + address);
    await lab.ready();
    return lab;
  }

  /** Waits until the layout stands and can be used. */
  async ready(): Promise<void> {
    await this.page.waitForFunction(() => window.jupyterapp?.restored, undefined, { timeout: 120_000 });
    await this.page.evaluate(async () => {
      await window.jupyterapp.restored;
    });
    await expect(this.page.locator('#jupyterlab-splash')).toHaveCount(0, { timeout: 60_000 });
  }

  async reload(): Promise<void> {
    await this.layoutSaved();
    await this.page.reload();
    await this.ready();
  }

  /** Writes a file to where notebooks stand. */
  write(path: string, content: object | string): void {
    writeFileSync(
      join(this.server.notebooks, path),
      typeof content === 'string' ? content : JSON.stringify(content)
    );
  }

  /** What a file holds; empty where there is none. */
  read(path: string): string {
    const file = join(this.server.notebooks, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** Takes away a file if it is there. */
  remove(path: string): void {
    rmSync(join(this.server.notebooks, path), { force: true });
  }

  /** Opens a notebook file; its kernel is ready when this returns. */
  async open(path: string): Promise<Notebook> {
    // Not awaited: what the command answers may be thrown away with what stood there before.
    await this.page.evaluate(file => {
      void window.jupyterapp.commands.execute('docmanager:open', { path: file });
    }, path);
    return this.notebook(path);
  }

  /** An open notebook, once its kernel is known. */
  async notebook(path: string): Promise<Notebook> {
    const found = await this.page.waitForFunction(file => {
      for (const widget of window.jupyterapp.shell.widgets('main')) {
        if (widget.context?.path === file && widget.sessionContext?.session?.kernel) return widget.id;
      }
    }, path);
    const notebook = new Notebook(this, path, this.page.locator(`[id="${await found.jsonValue()}"]`));
    await expect(notebook.element).toBeVisible();
    return notebook;
  }

  /** Runs one of Lab's commands by its id. */
  async execute(command: string, args: object = {}): Promise<void> {
    await this.page.evaluate(
      async ([id, values]) => {
        await window.jupyterapp.commands.execute(id, values);
      },
      [command, args] as const
    );
  }

  /** Changes settings of a plugin, as the settings editor does, and loads the page again. */
  async set(plugin: string, values: Readonly<Record<string, unknown>>): Promise<void> {
    await this.keep(plugin, values);
    await this.reload();
  }

  /** Has the server keep settings of a plugin, for pages that come. */
  async keep(plugin: string, values: Readonly<Record<string, unknown>>): Promise<void> {
    const answer = await fetch(`${this.server.url}lab/api/settings/${plugin}`, {
      method: 'PUT',
      body: JSON.stringify({ raw: JSON.stringify(values) })
    });
    expect(answer.ok).toBe(true);
  }

  /** Waits until the workspace on the server holds the layout as it is: Lab saves it when it has rested. */
  async layoutSaved(): Promise<void> {
    const wanted = await this.page.evaluate(() => {
      const all = [...window.jupyterapp.shell.widgets('main')];
      return all.filter(widget => !widget.node.querySelector('.jp-Launcher')).length;
    });
    await expect.poll(async () => mainWidgets(await this.remembered('layout-restorer:data'))).toBe(wanted);
  }

  /** What the workspace on the server holds under a name. */
  async remembered(name: string): Promise<unknown> {
    const answer = await fetch(`${this.server.url}lab/api/workspaces`);
    const { workspaces } = await answer.json();
    const path = await this.page.evaluate(() => window.jupyterapp.name && location.pathname);
    const id = /workspaces\/([^/]+)/.exec(path)?.[1] ?? 'default';
    const all: { metadata: { id: string }; data: Record<string, unknown> }[] = workspaces.values;
    return all.find(each => each.metadata.id === id)?.data[name];
  }

  /** Drags something to a place in something else; the place is given as shares of its width and height. */
  async drag(from: Locator, to: Locator, across: number, down: number): Promise<void> {
    const { mouse } = this.page;
    const end = await to.boundingBox();
    if (!end) throw new Error('the goal is not in sight');
    let [x, y] = [0, 0];
    // What stands above it may have become another while its place was asked for.
    await expect(async () => {
      const start = await from.boundingBox();
      if (!start) throw new Error('what is dragged is not in sight');
      [x, y] = [start.x + Math.min(40, start.width / 2), start.y + start.height / 2];
      await mouse.move(x, y);
      expect(await from.evaluate(each => each.matches(':hover'))).toBe(true);
    }).toPass();
    await mouse.down();
    await mouse.move(x + 20, y + 15, { steps: 4 });
    await mouse.move(end.x + end.width * across, end.y + end.height * down, { steps: 12 });
    await expect(this.page.locator('.lm-DockPanel-overlay')).not.toHaveClass(/lm-mod-hidden/);
    await mouse.up();
  }

  /** Our sidebar, opened if it is not. */
  async sidebar(): Promise<Locator> {
    const sidebar = this.page.getByRole('region', { name: 'Dask Insight' });
    if (!(await sidebar.isVisible())) await this.page.getByRole('tab', { name: 'Dask Insight' }).click();
    await expect(sidebar).toBeVisible();
    return sidebar;
  }

  /** Opens a panel by a click on its entry in the sidebar. */
  async openPanel(title: string): Promise<void> {
    await this.entry(await this.sidebar(), title).click();
    await expect(this.panel(title)).toBeVisible();
  }

  /** The entry of a panel in the sidebar. */
  entry(sidebar: Locator, title: string): Locator {
    return sidebar.getByRole('button', { name: title, exact: true });
  }

  /** Closes the document of a panel. */
  async closePanel(title: string): Promise<void> {
    await this.panel(title).evaluate(section => {
      for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
        if (widget.node.contains(section)) widget.dispose();
      }
    });
    await expect(this.panel(title)).toHaveCount(0);
  }

  /** A panel of ours, wherever it is docked. */
  panel(title: string): Locator {
    return this.page.getByRole('region', { name: title, exact: true });
  }

  /** The picture of a panel. */
  picture(title: string): Locator {
    return this.panel(title).locator('.di-surface');
  }

  /** What a picture shows, as a number that differs when it does. */
  async fingerprint(title: string): Promise<number> {
    return this.picture(title)
      .locator('canvas')
      .first()
      .evaluate(async (canvas: HTMLCanvasElement) => {
        await new Promise<void>(done => requestAnimationFrame(() => requestAnimationFrame(() => done())));
        const context = canvas.getContext('2d') as CanvasRenderingContext2D;
        const { data } = context.getImageData(0, 0, Math.max(1, canvas.width), Math.max(1, canvas.height));
        let hash = 17;
        for (let index = 0; index < data.length; index += 4) {
          hash = (Math.imul(hash, 31) + data[index] * 65536 + data[index + 1] * 256 + data[index + 2]) | 0;
        }
        return hash;
      });
  }

  /** Number of tasks of a name, as the panel Functions says it; 0 where the name is not listed. */
  async tasksOf(name: string): Promise<number> {
    const row = this.panel('Functions').getByRole('row').filter({ hasText: name });
    // In one look: a row may go meanwhile.
    const [count = '0'] = await row.locator(':scope > :nth-child(2)').allInnerTexts();
    return Number(count.replace(/\D/g, ''));
  }

  /** Closes everything and ends all kernels: the next test finds an empty Lab. */
  async clear(): Promise<void> {
    await this.page.evaluate(() => {
      const { name, shell } = window.jupyterapp;
      for (const area of name === 'JupyterLab' ? ['main'] : ['main', 'down']) {
        for (const widget of [...shell.widgets(area)]) widget.dispose();
      }
    });
    await this.server.shutdownAll();
  }

  /** Fails if the page complained or ran what was none of its own. */
  async expectClean(): Promise<void> {
    expect(await this.page.evaluate(() => window.__pwned)).toBeUndefined();
    expect(this.problems).toEqual([]);
  }
}

/** How many widgets the main area of a saved layout has. */
function mainWidgets(layout: unknown): number {
  const count = (node: unknown): number => {
    if (typeof node !== 'object' || node === null) return 0;
    const { widgets, children } = node as { widgets?: unknown[]; children?: unknown[] };
    if (widgets) return widgets.length;
    return (children ?? []).reduce((sum: number, child) => sum + count(child), 0);
  };
  return count((layout as { main?: { dock?: { main?: unknown } } })?.main?.dock);
}
