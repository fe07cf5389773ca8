import { element } from '../panels/element';
import type { Mounted } from '../panels/mount';

/**
 * Makes a printed page that is worth its paper: while it is printed, everything
 * is laid out as wide as the paper and drawn in the light theme, also what has
 * not been in sight yet. Canvases are printed as pictures of themselves, since
 * what is drawn on a canvas while printing begins is lost in Chromium; with what
 * is chosen, but not what is only pointed at: pinned cards are closed, and the
 * arrow keys begin anew.
 * Returns the stop.
 */
export function keepPrintable(mounted: readonly Mounted[]): () => void {
  const root = document.documentElement;
  const pictures: HTMLElement[] = [];
  let theme: string | undefined;

  const redraw = (): void => {
    for (const { surface, layout } of mounted) {
      // The first time tells how it looks and how high it is at this width, the second draws it so.
      surface.refresh();
      layout();
      surface.refresh();
    }
  };
  const before = (): void => {
    if (root.classList.contains('printing')) return;
    theme = root.dataset.theme;
    root.dataset.theme = 'light';
    root.classList.add('printing');
    for (const { surface, dismiss } of mounted) {
      // A pinned card would keep its mark pointed at.
      dismiss();
      surface.element.dispatchEvent(new Event('pointerleave'));
    }
    redraw();
    for (const { surface } of mounted) {
      if (surface.width === 0 || surface.height === 0) continue;
      for (const sheet of surface.overlaid ? [surface.base, surface.overlay] : [surface.base]) {
        const picture = element('img', { class: 'di-print', alt: '', src: sheet.toDataURL() });
        surface.element.append(picture);
        pictures.push(picture);
      }
    }
  };
  const after = (): void => {
    for (const picture of pictures.splice(0)) picture.remove();
    root.classList.remove('printing');
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    redraw();
  };
  window.addEventListener('beforeprint', before);
  window.addEventListener('afterprint', after);
  return () => {
    window.removeEventListener('beforeprint', before);
    window.removeEventListener('afterprint', after);
  };
}
