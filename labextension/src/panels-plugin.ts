import { ILabShell, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';

/** The sidebar, the panels as documents, and their commands. */
export const panels: JupyterFrontEndPlugin<void> = {
  id: 'dask-insight:plugin',
  description: 'Live panels of Dask computations.',
  autoStart: true,
  optional: [ILabShell],
  activate: (_app: JupyterFrontEnd) => undefined
};
