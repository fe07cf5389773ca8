/** Attributes of an element by name; true stands for one without a value, false and undefined for none. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element with attributes and children; text is always text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, '');
    else if (value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** Shows or hides; what is the same already is left alone, so that a panel that grows has the page lay out nothing. */
export function setHidden(what: HTMLElement, hidden: boolean): void {
  if (what.hidden !== hidden) what.hidden = hidden;
}

/** Has `where` say `words`; see `setHidden`. */
export function setWords(where: HTMLElement, words: string): void {
  if (where.textContent !== words) where.textContent = words;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Makes an SVG element; sizes and colours go in as attributes, which a strict policy allows. */
export function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: (Node | string)[]
): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** A small square of a colour, before the name that it stands for; one of a kind has a form of its own. */
export function swatch(color: string, kind = ''): HTMLElement {
  const made = element('span', { class: `di-swatch ${kind}`, 'aria-hidden': 'true' });
  made.style.setProperty(kind ? '--di-sign' : 'background-color', color);
  return made;
}

/** A button that says what it does; `icon` is its drawing, without it the name is shown. */
export function button(name: string, press: () => void, icon?: SVGElement): HTMLButtonElement {
  const title = icon && name;
  const made = clickable(
    { class: icon ? 'di-icon' : 'di-button', 'aria-label': title, title },
    () => isIdle(made) || press(),
    icon ?? name
  );
  return made;
}

/** Has a button say and show something else, unless it does: what is pressed and let go is a click only where it stays. */
export function setSign(made: HTMLElement, words: string, sign: SVGElement): void {
  if (made.title === words) return;
  made.title = words;
  made.setAttribute('aria-label', words);
  made.replaceChildren(sign);
}

/** Says whether a button is pressed, unless it does. */
export function setPressed(made: HTMLElement, on: boolean): void {
  if (made.getAttribute('aria-pressed') !== String(on)) made.setAttribute('aria-pressed', String(on));
}

/** A button with attributes and children of its own. */
export function clickable(
  attributes: Attributes,
  click: (event: MouseEvent) => void,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, ...children);
  made.addEventListener('click', click);
  return made;
}

/** A button that can do nothing for now keeps the focus that it may have: it is not disabled, and says that it is. */
export function setIdle(made: HTMLElement, idle: boolean): void {
  if (isIdle(made) !== idle) made.setAttribute('aria-disabled', String(idle));
}

function isIdle(made: HTMLElement): boolean {
  return made.getAttribute('aria-disabled') === 'true';
}

/** Has a choice offer these, unless it does; what is chosen stays so if it is among them, else the first is. */
export function setOptions(
  made: HTMLSelectElement,
  options: readonly (readonly [value: string, label: string])[]
): void {
  const { value: chosen } = made;
  if (String([...made.options].map(each => [each.value, each.textContent])) === String(options)) return;
  made.replaceChildren(...options.map(([value, label]) => element('option', { value }, label)));
  made.value = chosen;
  if (made.selectedIndex < 0) made.selectedIndex = 0;
}

/** A choice of one of several, at first the first. */
export function choice<T extends string>(
  name: string,
  options: readonly (readonly [value: T, label: string])[],
  choose: (value: T) => void
): HTMLSelectElement {
  const made = element('select', { class: 'di-choice', 'aria-label': name, title: name });
  setOptions(made, options);
  made.addEventListener('change', () => choose(made.value as T));
  return made;
}
