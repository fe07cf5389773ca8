import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

/** What JupyterLab says of a widget while it waits for a kernel, and when that kernel knows no such widget. */
const WITHOUT = /^(Loading widget|Error displaying widget: model not found)/;
/** How long a kernel may take before a person is told what to do, milliseconds. */
const PATIENCE = 3000;

/** What a widget of ours leaves in a notebook for those who have no kernel; see `hosts/widget` in Python. */
const OURS = 'These panels of dask_insight';

/** Has a renderer of widgets say what ours have to say when their kernel is not there. */
export function withWords<T extends IRenderMime.IRenderer>(renderer: T): T {
  const render = renderer.renderModel.bind(renderer);
  renderer.renderModel = async model => {
    const text = model.data['text/plain'];
    const words = Array.isArray(text) ? text.join('') : String(text ?? '');
    if (!words.includes(OURS)) return render(model);
    const say = (): void => {
      if (!renderer.isDisposed && WITHOUT.test(renderer.node.textContent ?? '')) {
        renderer.node.textContent = words;
      }
    };
    const timer = setTimeout(say, PATIENCE);
    await render(model);
    clearTimeout(timer);
    say();
  };
  return renderer;
}
