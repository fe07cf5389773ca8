import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { openRequests } from './mime/open-requests';
import { savedReports } from './mime/plugin';
import { panels } from './panels-plugin';
import { savedWidgets } from './widgets/plugin';

/** What JupyterLab activates; each plugin is one file or folder. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [panels, savedReports, openRequests, savedWidgets];

export default plugins;
