import type { Mounted } from '../panels/mount';
import type { Stage } from '../panels/panel';

/** Keys that mean the same wherever the focus is within `target`; a panel that has it gets them first. */
export function listenToKeys(
  target: Document | HTMLElement,
  { selection, viewport }: Stage,
  mounted: () => readonly Mounted[],
  openHelp: () => void
): () => void {
  // A page, or a shadow tree.
  const tree = target.getRootNode() as Document | ShadowRoot;
  const listener = (event: Event): void => {
    if (!(event instanceof KeyboardEvent)) return;
    if (event.defaultPrevented || tree.querySelector('dialog[open]')) return;
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    const command = event.ctrlKey || event.metaKey;
    if (event.key === 'Escape') {
      if (!mounted().some(each => each.dismiss()) && !selection.escape()) return;
    } else if (typing || event.altKey) return;
    else if (command && event.key.toLowerCase() === 'z') event.shiftKey ? selection.redo() : selection.undo();
    else if (command) return;
    else if (event.key === '?') openHelp();
    else if (event.key === '0') viewport.fit();
    else if (event.key === '/') searchNear(mounted());
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  target.addEventListener('keydown', listener);
  return () => target.removeEventListener('keydown', listener);
}

/** Puts the cursor into the search box of the panel that is nearest to the top of the window. */
function searchNear(mounted: readonly Mounted[]): void {
  const searchable = mounted.filter(({ view }) => (view.search?.getClientRects().length ?? 0) > 0);
  const distance = ({ element: { firstElementChild } }: Mounted): number =>
    Math.abs((firstElementChild?.getBoundingClientRect().top ?? 0) - window.innerHeight / 3);
  const [nearest] = [...searchable].sort((a, b) => distance(a) - distance(b));
  nearest?.view.search?.focus();
}
