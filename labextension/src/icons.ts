import { LabIcon } from '@jupyterlab/ui-components';

/** Tasks on three threads: the sign of the extension. */
const SIGN = 'M2 3h7v2.6H2zM10.2 3H14v2.6h-3.8zM4 6.7h9v2.6H4zM2 10.4h4.6V13H2zM7.8 10.4H12V13H7.8z';

/** Line drawings on a grid of 16. */
const LINES = {
  follow: 'M2 8h8M7 4.5L10.5 8L7 11.5M13.5 3v10',
  pause: 'M5.5 3v10M10.5 3v10',
  resume: 'M5 3l8 5l-8 5z',
  undo: 'M5.5 3L2.5 6l3 3M2.8 6H10a3.5 3.5 0 0 1 0 7H7',
  redo: 'M10.5 3l3 3l-3 3M13.2 6H6a3.5 3.5 0 0 0 0 7h3',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  report: 'M4 1.8h5.4L12.5 5v9.2H4zM9.2 2v3.2h3.1M6 8h4.5M6 10.6h4.5',
  layout: 'M2 2.8h12v10.4H2zM7 2.8v10.4M7 8h7'
} as const;

const drawn = (path: string, paint: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="16"><path d="${path}" ${paint}/></svg>`;

const line = (name: keyof typeof LINES): LabIcon =>
  new LabIcon({
    name: `dask-insight:${name}`,
    svgstr: drawn(
      LINES[name],
      'class="jp-icon3" fill="none" stroke="#616161" stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round"'
    )
  });

export const signIcon = new LabIcon({
  name: 'dask-insight:sign',
  svgstr: drawn(SIGN, 'class="jp-icon3 jp-icon-selectable" fill="#616161"')
});
export const followIcon = line('follow');
export const pauseIcon = line('pause');
export const resumeIcon = line('resume');
export const undoIcon = line('undo');
export const redoIcon = line('redo');
export const fitIcon = line('fit');
export const reportIcon = line('report');
export const layoutIcon = line('layout');
