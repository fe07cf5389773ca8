import { LabIcon } from '@jupyterlab/ui-components';

/** Tasks on three threads: the sign of the extension. */
const SIGN = 'M2 3h7v2.6H2zM10.2 3H14v2.6h-3.8zM4 6.7h9v2.6H4zM2 10.4h4.6V13H2zM7.8 10.4H12V13H7.8z';

const drawn = (path: string, paint: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="16"><path d="${path}" ${paint}/></svg>`;

const line = (name: string, path: string): LabIcon =>
  new LabIcon({
    name: `dask-insight:${name}`,
    svgstr: drawn(
      path,
      'class="jp-icon3" style="fill:none" stroke="#616161" stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round"'
    )
  });

export const signIcon = new LabIcon({
  name: 'dask-insight:sign',
  svgstr: drawn(SIGN, 'class="jp-icon3 jp-icon-selectable" fill="#616161"')
});
/** What the panels show, in small; those that are not named here have the sign. */
const PANEL_LINES: Readonly<Record<string, string>> = {
  findings: 'M6.5 2.5a4 4 0 1 1 0 8a4 4 0 0 1 0-8M9.5 9.5l4 4M6.5 4.6v2.2M6.5 8.4v.1',
  'time-budget': 'M2 6h12v4H2zM7 6v4M10.5 6v4',
  'critical-path': 'M1.5 4h4.5v8h4V7h4.5',
  'what-if': 'M2 3.5h12M2 7h7.5M2 10.5h9.5M2 14h4M13.2 2v12',
  compare: 'M2 3h9v3H2zM2 10h12v3H2z',
  resources: 'M2 2.5v11h12M4 10.5l2.5-4l2.5 2.5l4.5-5',
  memory: 'M2 2.5v11h12M2 11l3.5-3l3 1.5l5-5.5v9.5',
  'flame-graph': 'M2 13.5h12v-3H2zM3.5 10.5v-3H12v3M5.5 7.5v-3H9v3',
  'fine-metrics': 'M2 2v12M2 3.5h11M2 6.5h7M2 9.5h9M2 12.5h4',
  progress: 'M2 3h12v3H2zM2 10h12v3H2zM2 4.5h8M2 11.5h4',
  functions: 'M2 3h12v10H2zM2 6.5h12M2 9.75h12M6 3v10',
  transfers: 'M2.5 5h10.5M10 2l3 3l-3 3M13.5 11H3M6 8l-3 3l3 3',
  workers: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  spans: 'M2 3.5h12M2 2v3M14 2v3M4 8h6M4 6.5v3M10 6.5v3M5.5 12.5h7M5.5 11v3M12.5 11v3',
  events: 'M2 8h12M4.5 5v6M8.5 3v10M11.5 6v4'
};

const panelIcons = new Map(Object.entries(PANEL_LINES).map(([id, path]) => [id, line(`panel-${id}`, path)]));

/** The drawing beside a panel's name. */
export function panelIcon(id: string): LabIcon {
  return panelIcons.get(id) ?? signIcon;
}

export const followIcon = line('follow', 'M2 8h8M7 4.5L10.5 8L7 11.5M13.5 3v10');
export const pauseIcon = line('pause', 'M5.5 3v10M10.5 3v10');
export const undoIcon = line('undo', 'M5.5 3L2.5 6l3 3M2.8 6H10a3.5 3.5 0 0 1 0 7H7');
export const redoIcon = line('redo', 'M10.5 3l3 3l-3 3M13.2 6H6a3.5 3.5 0 0 0 0 7h3');
export const fitIcon = line('fit', 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10');
export const reportIcon = line('report', 'M4 1.8h5.4L12.5 5v9.2H4zM9.2 2v3.2h3.1M6 8h4.5M6 10.6h4.5');
export const layoutIcon = line('layout', 'M2 2.8h12v10.4H2zM7 2.8v10.4M7 8h7');
