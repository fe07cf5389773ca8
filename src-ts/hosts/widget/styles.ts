import { element } from '../../panels/element';

/** Set on the style element that a page gets once. */
const MARK = 'data-dask-insight';

/**
 * Where a host puts a widget and its styles behind a shadow boundary, as marimo
 * does: a typed property counts only where the page itself declares it.
 */
export function keepStyled(root: HTMLElement, css: string): void {
  if (!(root.getRootNode() instanceof ShadowRoot)) return;
  if (document.head.querySelector(`style[${MARK}]`)) return;
  document.head.append(element('style', { [MARK]: true }, css));
}
