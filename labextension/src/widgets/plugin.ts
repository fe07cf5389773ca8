import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { withWords } from './words';

/** What ipywidgets' part of JupyterLab shows. */
const WIDGET = 'application/vnd.jupyter.widget-view+json';
/** Its rank there. */
const RANK = -10;

function mend({ content: { rendermime } }: NotebookPanel): void {
  const factory = rendermime.getFactory(WIDGET);
  if (!factory) return;
  rendermime.removeMimeType(WIDGET);
  rendermime.addFactory(
    { ...factory, createRenderer: options => withWords(factory.createRenderer(options)) },
    RANK
  );
}

export const savedWidgets: JupyterFrontEndPlugin<void> = {
  id: 'dask-insight:saved-widgets',
  description: 'Says what to do where a saved widget has no kernel.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app: JupyterFrontEnd, notebooks: INotebookTracker) => {
    // By then ipywidgets, which listens for the same, has put its own renderer there.
    const soon = (panel: NotebookPanel): void => queueMicrotask(() => mend(panel));
    notebooks.forEach(soon);
    notebooks.widgetAdded.connect((_, panel) => soon(panel));
  }
};
