import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { OPEN } from '../panels/documents';
import { wanted } from './request';

/** Opens panels that a cell asks for, as `%%dprofile --open PANEL` does. */
export const openRequests: JupyterFrontEndPlugin<void> = {
  id: 'dask-insight:open-requests',
  description: 'Opens panels that a cell asks for.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IConsoleTracker],
  activate: (
    { commands }: JupyterFrontEnd,
    notebooks: INotebookTracker,
    consoles: IConsoleTracker | null
  ) => {
    const follow = (kind: 'notebook' | 'console', context: ISessionContext): void => {
      context.iopubMessage.connect(({ path, session }, message) => {
        const panel = wanted(message, session?.kernel?.clientId);
        const args = { panel, kind, path, activate: false, front: true };
        if (panel && commands.hasCommand(OPEN)) void commands.execute(OPEN, args).catch(() => undefined);
      });
    };
    notebooks.widgetAdded.connect((_, { sessionContext }) => follow('notebook', sessionContext));
    consoles?.widgetAdded.connect((_, { sessionContext }) => follow('console', sessionContext));
  }
};
