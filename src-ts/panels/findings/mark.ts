import type { Severity } from '../../core/findings';
import { svg } from '../element';

/** Told apart by shape too: a filled octagon, a triangle, a ring. */
const SHAPES: Readonly<Record<Severity, string>> = {
  critical: 'M4.7 1h4.6L13 4.7v4.6L9.3 13H4.7L1 9.3V4.7z',
  warning: 'M7 1.4L13.3 12.6H.7z',
  info: 'M7 1.6a5.4 5.4 0 1 1 0 10.8a5.4 5.4 0 0 1 0-10.8z'
};

const SIGNS: Readonly<Record<Severity, string>> = {
  critical: 'M7 3.8v4M7 9.7v.4',
  warning: 'M7 5.4v3.4M7 10.6v.3',
  info: 'M7 6.4v3.4M7 4.2v.3'
};

/** The sign of a severity; the word stands beside it. */
export function severityMark(severity: Severity): SVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 14 14', width: 14, height: 14, 'aria-hidden': 'true', class: 'di-finding-mark' },
    svg('path', { d: SHAPES[severity], class: 'di-finding-shape' }),
    svg('path', { d: SIGNS[severity], class: 'di-finding-sign', fill: 'none', 'stroke-width': 1.5 })
  );
}
