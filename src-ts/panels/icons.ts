import { svg } from './element';

/** Line drawings on a grid of 16; they take the colour of the text around them. */
const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9M10.3 10.3L14 14',
  table: 'M2 3h12v10H2zM2 6.5h12M2 9.75h12M6 3v10',
  save: 'M8 2v8M4.8 7L8 10.2L11.2 7M2.5 13.5h11',
  open: 'M6 4l4 4l-4 4',
  close: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  done: 'M3 8.5l3.2 3.2L13 4.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  undo: 'M5.5 3L2.5 6l3 3M2.8 6H10a3.5 3.5 0 0 1 0 7H7',
  redo: 'M10.5 3l3 3l-3 3M13.2 6H6a3.5 3.5 0 0 0 0 7h3',
  path: 'M1.5 4h4.5v8h4V7h4.5M1.5 4h.01',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  flip: 'M8 2v12M5 5l3-3l3 3M5 11l3 3l3-3'
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGElement {
  return drawn(PATHS[name]);
}

export function drawn(d: string): SVGElement {
  const path = svg('path', {
    d,
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': 1.25,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round'
  });
  return svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, path);
}
