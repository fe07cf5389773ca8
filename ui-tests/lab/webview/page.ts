import { KernelManager, type KernelMessage, ServerConnection } from '@jupyterlab/services';

const WIDGET = 'application/vnd.jupyter.widget-view+json';

/** What VS Code uses of the manager in its bundle. */
interface Manager {
  get_model(id: string): Promise<object>;
  create_view(model: object, options: object): Promise<object>;
  display_view(data: object, view: object, options: object): Promise<void>;
}

declare global {
  interface Window {
    requirejs: { config(options: object): void };
    vscIPyWidgets8: { load(): void };
    vscIPyWidgets: { WidgetManager: new (...options: unknown[]) => Manager };
    /** Runs a cell, its outputs below the others; resolves with its status when it has ended. */
    runCell(source: string): Promise<string>;
  }
}

/** A kernel of the server that this page comes from. */
async function startKernel() {
  const baseUrl = new URL('..', location.href).href;
  const serverSettings = ServerConnection.makeSettings({ baseUrl, wsUrl: baseUrl.replace(/^http/, 'ws') });
  return new KernelManager({ serverSettings }).startNew({ name: 'python3' });
}

type Kernel = Awaited<ReturnType<typeof startKernel>>;

/** The one manager that a notebook has; modules of widgets come from the kernel's environment. */
function makeManager(kernel: Kernel): Manager {
  window.vscIPyWidgets8.load();
  const widgetsRegisteredInRequireJs = new Set<string>();
  const loader = {
    widgetsRegisteredInRequireJs,
    errorHandler: (name: string, module: string, version: string, error: unknown) =>
      console.error(`dask_insight: no ${name} of ${module} ${version}: ${error}`),
    successHandler: () => undefined,
    loadWidgetScript: async (module: string) => {
      window.requirejs.config({ paths: { [module]: new URL(module, location.href).href } });
      widgetsRegisteredInRequireJs.add(module);
    }
  };
  const container = document.createElement('div');
  return new window.vscIPyWidgets.WidgetManager(kernel, container, loader, () => undefined);
}

/** A widget in a place of its own, other outputs as text. */
async function show(
  manager: Manager,
  output: HTMLElement,
  data: KernelMessage.IDisplayDataMsg['content']['data']
) {
  const place = document.createElement('div');
  output.append(place);
  const widget = data[WIDGET] as { model_id: string } | undefined;
  if (!widget) {
    place.textContent = String(data['text/plain']);
    return;
  }
  place.className = 'cell-output-ipywidget-background';
  const view = await manager.create_view(await manager.get_model(widget.model_id), { el: place });
  await manager.display_view(widget, view, { node: place });
}

async function begin(): Promise<void> {
  const kernel = await startKernel();
  const manager = makeManager(kernel);
  window.runCell = async source => {
    const output = document.createElement('div');
    output.className = 'output';
    document.body.append(output);
    const future = kernel.requestExecute({ code: source });
    future.onIOPub = ({ header, content }) => {
      const type = header.msg_type;
      if ('data' in content && (type === 'display_data' || type === 'execute_result')) {
        void show(manager, output, content.data as KernelMessage.IDisplayDataMsg['content']['data']);
      }
      if ('text' in content) output.append(String(content.text));
    };
    return (await future.done).content.status;
  };
  document.body.dataset.ready = 'true';
}

void begin();
