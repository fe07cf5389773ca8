/** What has the focus within an element; to the page around it a shadow tree is one element, so its own tree is asked. */
export function focusIn(where: Element): HTMLElement | undefined {
  const { activeElement } = where.getRootNode() as Document | ShadowRoot;
  return where.contains(activeElement) ? (activeElement as HTMLElement) : undefined;
}

/**
 * Has `make` make elements anew; the button that had the focus has it again, known by what it says and by which of
 * those it is that say so.
 */
export function keepFocus(where: Element, make: () => void): void {
  const focused = focusIn(where);
  const says = focused?.textContent;
  const alike = (): HTMLElement[] =>
    [...where.querySelectorAll('button')].filter(({ textContent }) => textContent === says);
  const at = alike().indexOf(focused as HTMLElement);
  make();
  const made = alike();
  made[Math.min(at, made.length - 1)]?.focus({ preventScroll: true });
}
