import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { SavedOutput } from './saved-output';
import { MIME } from './summary';

/**
 * Shows the reports that notebooks hold. Safe: data are read, nothing of them
 * runs or becomes markup. JupyterLab prefers it to HTML, whose rank is 50.
 */
const factory: IRenderMime.IRendererFactory = {
  safe: true,
  mimeTypes: [MIME],
  defaultRank: 10,
  createRenderer: () => new SavedOutput()
};

export const savedReports: JupyterFrontEndPlugin<void> = {
  id: 'dask-insight:saved-reports',
  description: 'Shows reports that are saved in notebooks.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  activate: (_app: JupyterFrontEnd, registry: IRenderMimeRegistry) => registry.addFactory(factory)
};
