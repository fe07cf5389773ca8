import { button, element } from '../panels/element';
import { icon } from '../panels/icons';
import { pageIcon } from './icons';

/** The key that adds to a choice: Ctrl and a click ask for a menu on a Mac. */
export const CTRL = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** What pointer and keys do, in the order in which a person meets it. */
const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['Wheel over a focused chart, or Ctrl + wheel', 'zoom'],
  ['Drag, ← →', 'move along the time'],
  ['+ −', 'zoom in and out'],
  ['Double-click, 0', 'show everything'],
  ['Shift + drag, or hold a finger and drag', 'choose a stretch of time for all panels'],
  ['S', 'choose the stretch of time that is shown'],
  ['Click', 'choose what is under the pointer for all panels'],
  [`${CTRL} + click`, 'add it to what is chosen'],
  ['Enter, then arrow keys, Home, End', 'go from one thing to the next'],
  ['Enter again, then Tab', 'keep its card, and go into it'],
  ['I, O', 'go from a task to its input that came last, or to what used its output first'],
  ['Page Up, Page Down, or two fingers', 'scroll what has more lines than room'],
  ['/', 'search in the panel'],
  ['Esc', 'put a card away, then take back the last choice'],
  [`${CTRL} + Z, ${CTRL} + Shift + Z`, 'undo and redo a choice'],
  ['?', 'this list']
];

/** Shows the list of keys until it is closed, within `where`: it needs the colours and the style sheet of what it explains. */
export function showKeys(where: Element): void {
  const list = element('dl', { class: 'di-keys' });
  for (const [keys, does] of KEYS) list.append(element('dt', {}, keys), element('dd', {}, does));
  const title = element('h2', { id: 'help-title' }, 'Pointer and keys');
  const dialog = element('dialog', { class: 'di-help', 'aria-labelledby': title.id });
  const close = button('Close', () => dialog.close(), icon('close'));
  dialog.append(element('header', {}, title, close), list);
  dialog.addEventListener('click', event => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => dialog.remove());
  where.append(dialog);
  dialog.showModal();
}

/** A button that shows it. */
export function keysButton(where: Element): HTMLElement {
  return button('Pointer and keys (?)', () => showKeys(where), pageIcon('help'));
}
