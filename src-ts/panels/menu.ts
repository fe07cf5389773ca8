import { element } from './element';

/**
 * A box under a button, opened and closed by it. It closes with Esc, when the
 * focus goes elsewhere and when something else is pressed, and opens to the
 * side on which the window has room. `filled` is called before it is shown.
 */
export function menuUnder(
  summary: HTMLElement,
  box: HTMLElement,
  filled: () => void = () => {}
): HTMLDetailsElement {
  const menu = element('details', { class: 'di-save' }, summary, box);
  const pressed = (event: Event): void => {
    if (event.composedPath().includes(menu)) return;
    menu.open = false;
    document.removeEventListener('pointerdown', pressed);
  };
  menu.addEventListener('toggle', () => {
    document.removeEventListener('pointerdown', pressed);
    if (!menu.open) return;
    document.addEventListener('pointerdown', pressed);
    filled();
    box.classList.remove('di-to-right');
    box.classList.toggle('di-to-right', box.getBoundingClientRect().left < 0);
  });
  menu.addEventListener('keydown', event => {
    if (event.key !== 'Escape') return;
    menu.open = false;
    summary.focus();
    event.stopPropagation();
  });
  menu.addEventListener('focusout', event => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget as Node)) menu.open = false;
  });
  return menu;
}
