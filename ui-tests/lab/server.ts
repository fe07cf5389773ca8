import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync
} from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const extension = join(repository, 'dask_insight', 'labextension');

/** Most time for a server to answer on a machine that does other things too, milliseconds. */
const PATIENCE = 120_000;

/** A JupyterLab of our own, with the labextension as it was built in this tree. */
export class LabServer {
  private constructor(
    readonly url: string,
    /** Everything that the server keeps: settings, workspaces, notebooks, its log. */
    readonly folder: string,
    private readonly process: ChildProcess
  ) {}

  /** Where notebooks stand, and where kernels work. */
  get notebooks(): string {
    return join(this.folder, 'notebooks');
  }

  /** Starts one; `settings` are overrides of Lab's settings, by plugin. It serves Notebook 7 too, under `notebooks/`. */
  static async start(settings: Record<string, object> = {}): Promise<LabServer> {
    if (!existsSync(join(extension, 'package.json'))) {
      throw new Error(`The labextension is not built: ${extension} has no package.json. Run \`make build\`.`);
    }
    const folder = mkdtempSync(join(tmpdir(), 'dask-insight-lab-'));
    for (const each of ['notebooks', 'workspaces', 'settings', 'labextensions', 'ipython', 'dask']) {
      mkdirSync(join(folder, each));
    }
    const configuration = join(folder, 'jupyter', 'labconfig');
    mkdirSync(configuration, { recursive: true });
    writeFileSync(join(configuration, 'default_setting_overrides.json'), JSON.stringify(settings));
    // Lab would ask whether to fetch news.
    const disabledExtensions = { '@jupyterlab/apputils-extension:announcements': true };
    writeFileSync(join(configuration, 'page_config.json'), JSON.stringify({ disabledExtensions }));
    cpSync(extension, join(folder, 'labextensions', 'dask-insight'), { recursive: true });
    const runtime = join(folder, 'jupyter', 'runtime');
    const log = createWriteStream(join(folder, 'server.log'));
    const child = spawn(
      process.env.PYTHON ?? 'python',
      ['-m', 'jupyterlab', `--config=${join(repository, 'ui-tests', 'lab', 'jupyter_config.py')}`],
      {
        cwd: folder,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: {
          ...process.env,
          LAB_FOLDER: folder,
          LAB_PORT: String(await freePort()),
          PYTHONPATH: [repository, process.env.PYTHONPATH].filter(Boolean).join(':'),
          JUPYTER_CONFIG_DIR: join(folder, 'jupyter'),
          JUPYTER_DATA_DIR: join(folder, 'jupyter'),
          JUPYTER_RUNTIME_DIR: runtime,
          IPYTHONDIR: join(folder, 'ipython'),
          DASK_CONFIG: join(folder, 'dask'),
          DASK_TEMPORARY_DIRECTORY: join(folder, 'dask')
        }
      }
    );
    child.stdout?.pipe(log);
    child.stderr?.pipe(log);
    const url = await address(child, runtime).catch(async error => {
      child.kill('SIGKILL');
      const text = await readFile(join(folder, 'server.log'), 'utf8').catch(() => '');
      throw new Error(`${error}\n${text.slice(-4000)}`);
    });
    return new LabServer(url, folder, child);
  }

  /** Ends the server and its kernels, and takes away what they left. */
  async stop(): Promise<void> {
    await this.shutdownAll().catch(() => undefined);
    const ended = new Promise<void>(done => this.process.once('exit', () => done()));
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.stdin?.end();
      const deadline = setTimeout(() => this.process.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(deadline);
    }
    if (!process.env.LAB_KEEP) rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Ends every session and kernel. */
  async shutdownAll(): Promise<void> {
    for (const kind of ['sessions', 'kernels']) {
      const found = (await (await fetch(`${this.url}api/${kind}`)).json()) as { id: string }[];
      await Promise.all(found.map(({ id }) => fetch(`${this.url}api/${kind}/${id}`, { method: 'DELETE' })));
    }
  }
}

/** Where the server says it listens, once it answers there. */
async function address(child: ChildProcess, runtime: string): Promise<string> {
  const deadline = Date.now() + PATIENCE;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error('JupyterLab ended before it could be reached.');
    const names = await readdir(runtime).catch(() => []);
    const name = names.find(each => /^jpserver-\d+\.json$/.test(each));
    const text = name && (await readFile(join(runtime, name), 'utf8'));
    if (text) {
      const { port, base_url } = JSON.parse(text);
      const url = `http://localhost:${port}${base_url}`;
      const answer = await fetch(`${url}api/status`).catch(() => undefined);
      if (answer?.ok) return url;
    }
    await pause(100);
  }
  throw new Error('JupyterLab did not answer in time.');
}

/** A port nobody listens on at the moment. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const place = probe.address();
      probe.close(() => done(typeof place === 'object' && place ? place.port : 0));
    });
  });
}
