import { choosePalette } from '@dask-insight/panels/draw/palette';
import { PANELS } from '@dask-insight/panels/panels/index';
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IConsoleTracker } from '@jupyterlab/console';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ACTIONS, addCommands } from './commands';
import { exportReport } from './export-report';
import { LiveKernels } from './kernels/live-kernel';
import { Places } from './kernels/places';
import { Documents, OPEN } from './panels/documents';
import { Hidden } from './panels/hidden';
import { Layouts } from './panels/layouts';
import { settingsOf } from './settings';
import { Sidebar } from './sidebar/sidebar';
import { StatusItem } from './status-item';

const ID = 'dask-insight:plugin';
const NAME = 'Dask Insight';

/** The sidebar, the panels as documents, and their commands. */
export const panels: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Panels that show what Dask does in a kernel, while it runs.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [
    IConsoleTracker,
    ILabShell,
    ILayoutRestorer,
    ISettingRegistry,
    ICommandPalette,
    ILauncher,
    IStatusBar,
    IStateDB
  ],
  activate: async (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    consoles: IConsoleTracker | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    registry: ISettingRegistry | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    statusBar: IStatusBar | null,
    database: IStateDB | null
  ) => {
    const kernels = new LiveKernels();
    const places = new Places(kernels, app.serviceManager.sessions, app.shell, notebooks, consoles);
    const documents = new Documents(app, places, labShell !== null, place => void exportReport(place));
    const hidden = new Hidden(database);
    const layouts = new Layouts(documents, places, hidden);
    const settings = await settingsOf(registry, ID);
    addCommands({ app, places, documents, layouts, settings });
    hidden.changed.connect(() => app.commands.notifyCommandChanged(ACTIONS.toggle));
    hidden.follow(app.serviceManager.contents);
    void hidden.restore();
    labShell?.modeChanged.connect(() => app.commands.notifyCommandChanged(ACTIONS.save));
    if (settings) {
      const hand = (): void => {
        choosePalette(settings.palette);
        kernels.set(settings.forKernel);
      };
      settings.changed.connect(hand);
      hand();
    }
    if (restorer) documents.restore(restorer);

    const sidebar = new Sidebar(places, documents, app.commands);
    app.shell.add(sidebar, 'left', { rank: 900, type: NAME });
    restorer?.add(sidebar, sidebar.id);
    PANELS.forEach(({ id }, rank) => {
      palette?.addItem({ command: OPEN, category: NAME, args: { panel: id, isPalette: true } });
      launcher?.add({ command: OPEN, category: NAME, rank, args: { panel: id, isLauncher: true } });
    });
    for (const command of Object.values(ACTIONS)) palette?.addItem({ command, category: NAME });
    if (statusBar) {
      const item = new StatusItem(places, app.commands);
      statusBar.registerStatusItem(ID, {
        item,
        align: 'left',
        rank: 100,
        isActive: () => item.active,
        activeStateChanged: item.switched
      });
    }
  }
};
