import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { build } from 'esbuild';
import type { LabServer } from '../server';

const packages = createRequire(import.meta.url);

/** Colours of VS Code's own themes, those of its variables that widgets use. */
const COLORS = {
  'vscode-light': {
    'editor-background': '#ffffff',
    'editor-foreground': '#3b3b3b',
    'list-hoverBackground': '#f2f2f2',
    descriptionForeground: '#3b3b3b',
    disabledForeground: '#61616180',
    'widget-border': '#e5e5e5',
    focusBorder: '#005fb8',
    'font-family': 'sans-serif'
  },
  'vscode-dark': {
    'editor-background': '#1f1f1f',
    'editor-foreground': '#cccccc',
    'list-hoverBackground': '#2a2d2e',
    descriptionForeground: '#9d9d9d',
    disabledForeground: '#cccccc80',
    'widget-border': '#313131',
    focusBorder: '#0078d4',
    'font-family': 'sans-serif'
  }
};

/** The page in which VS Code shows a notebook's outputs: its own bundle for widgets, a real kernel. */
export class Webview {
  private constructor(readonly page: Page) {}

  static async open(
    context: BrowserContext,
    server: LabServer,
    theme: keyof typeof COLORS
  ): Promise<Webview> {
    const page = await context.newPage();
    const files = await contents(theme);
    await page.route('**/webview/*', route => {
      const name = new URL(route.request().url()).pathname.split('/').pop() ?? '';
      const body = files[name];
      if (body === undefined) return route.fulfill({ status: 404 });
      return route.fulfill({ body, contentType: name.endsWith('.html') ? 'text/html' : 'text/javascript' });
    });
    await page.goto(`${server.url}webview/index.html`);
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    return new Webview(page);
  }

  /** Starts a cell; resolves with its status when it has ended. */
  run(source: string): Promise<string> {
    return this.page.evaluate(each => window.runCell(each), source);
  }

  /** The outputs of the cell that was started as the `index`-th. */
  output(index: number): Locator {
    return this.page.locator('.output').nth(index);
  }
}

async function contents(theme: keyof typeof COLORS): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
    bundle: true,
    write: false,
    define: { global: 'globalThis', 'process.env': '{}' }
  });
  const read = (path: string): string => readFileSync(path, 'utf8');
  return {
    'index.html': html(theme),
    'page.js': outputFiles[0].text,
    'require.js': read(packages.resolve('requirejs/require.js')),
    'ipywidgets.js': read(packages.resolve('@vscode/jupyter-ipywidgets8')),
    'anywidget.js': read(join(prefix(), 'share', 'jupyter', 'nbextensions', 'anywidget', 'index.js'))
  };
}

function html(theme: keyof typeof COLORS): string {
  const colors = Object.entries(COLORS[theme]).map(([name, value]) => `--vscode-${name}: ${value};`);
  return `<!doctype html>
<html style="${colors.join(' ')}"><head><style>
body { background: var(--vscode-editor-background); color: var(--vscode-editor-foreground); }
.cell-output-ipywidget-background { background: white !important; }
</style><script src="require.js"></script></head>
<body class="${theme}" data-vscode-theme-kind="${theme}"><script type="module">
import { activate } from './ipywidgets.js';
activate();
document.body.append(Object.assign(document.createElement('script'), { src: 'page.js' }));
</script></body></html>`;
}

/** Where the Python of the tests keeps what packages bring along for notebooks. */
function prefix(): string {
  const found = spawnSync(process.env.PYTHON ?? 'python', ['-c', 'import sys; print(sys.prefix)']);
  return found.stdout.toString().trim();
}
