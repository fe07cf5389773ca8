/** What has the focus within an element; to the page around it a shadow tree is one element, so its own tree is asked. */
export function focusIn(where: Element): HTMLElement | undefined {
  const { activeElement } = where.getRootNode() as Document | ShadowRoot;
  return where.contains(activeElement) ? (activeElement as HTMLElement) : undefined;
}

/** Has `make` make elements anew; the button that had the focus has it again, known by what it says. */
export function keepFocus(where: Element, make: () => void): void {
  const focused = focusIn(where)?.textContent;
  make();
  if (focused === undefined) return;
  const buttons = [...where.querySelectorAll('button')];
  buttons.find(({ textContent }) => textContent === focused)?.focus({ preventScroll: true });
}
