/** What has the focus within an element; to the page around it a shadow tree is one element, so its own tree is asked. */
export function focusIn(where: Element): HTMLElement | undefined {
  const { activeElement } = where.getRootNode() as Document | ShadowRoot;
  return where.contains(activeElement) ? (activeElement as HTMLElement) : undefined;
}
