import type { Box } from './pen';

/** One line of a card. */
export interface CardLine {
  readonly label: string;
  readonly value: string;
  /** Copied by a click on the value; given where the value is shortened. */
  readonly copy?: string;
  readonly tone?: 'error' | 'muted';
  /** A line of source code that belongs to it. */
  readonly code?: string;
  /** Shown once the card is pinned. */
  readonly minor?: boolean;
}

/** What is known about something, top to bottom. Plain text throughout. */
export interface Card {
  readonly title: string;
  /** CSS colour of the swatch before the title. */
  readonly color?: string;
  /** Groups of lines, a thin rule between them; empty ones are left out. */
  readonly groups: readonly (readonly CardLine[])[];
  /** Long text at the end, as a traceback; may be scrolled once the card is pinned. */
  readonly text?: string;
}

/** Room between a card and what it describes, CSS pixels. */
const GAP = 10;

/** Least height of a card that is cut, CSS pixels. */
const LEAST = 120;

/**
 * The card that says what is under the pointer. It stands beside the thing,
 * never on it, inside the window; pinned, it stays and can be read, selected
 * and copied from.
 */
export class Tooltip {
  readonly element = document.createElement('div');
  private fixed = false;
  private target: Box = { x: 0, y: 0, width: 0, height: 0 };

  /** `near` stands in the page that the card is for; `onLeave` is called when a pinned card is closed or tabbed out of. */
  constructor(
    private readonly near: Element,
    private readonly onLeave: () => void = () => {}
  ) {
    this.element.className = 'di-page di-card';
    this.element.setAttribute('role', 'tooltip');
    this.element.tabIndex = -1;
    this.element.hidden = true;
    this.element.addEventListener('keydown', event => this.key(event));
    layerOf(near).append(this.element);
  }

  get pinned(): boolean {
    return this.fixed;
  }

  /** Shows a card beside a box; both in CSS pixels of the window. */
  show(card: Card, target: Box): void {
    this.fill(card);
    this.element.style.colorScheme = getComputedStyle(this.near).colorScheme;
    this.element.hidden = false;
    this.place(target);
  }

  /** Keeps the card where it is until `hide`. */
  pin(): void {
    if (this.element.hidden || this.fixed) return;
    this.fixed = true;
    this.element.classList.add('di-pinned');
    this.element.setAttribute('role', 'dialog');
    this.element.setAttribute('aria-label', this.element.querySelector('.di-card-name')?.textContent ?? '');
    const close = makeButton('di-card-close', '×', () => this.unpin());
    close.setAttribute('aria-label', 'Close');
    this.element.append(close);
    // It shows more now than before.
    this.place(this.target);
  }

  hide(): void {
    this.element.hidden = true;
    this.fixed = false;
    this.element.classList.remove('di-pinned');
    this.element.setAttribute('role', 'tooltip');
    this.element.removeAttribute('aria-label');
  }

  private unpin(): void {
    this.hide();
    this.onLeave();
  }

  /**
   * Esc closes a pinned card. It stands in the order of Tab behind what it is about: Shift+Tab before its first control
   * leads back to that, Tab after its last one on from there.
   */
  private key(event: KeyboardEvent): void {
    if (!this.fixed) return;
    const stops = [...this.element.querySelectorAll('button, pre')];
    const ends = event.shiftKey ? [this.element, stops[0]] : stops.slice(-1);
    if (event.key === 'Escape') this.unpin();
    else if (event.key === 'Tab' && ends.includes(event.target as Element)) this.onLeave();
    else return;
    if (event.shiftKey) event.preventDefault();
    event.stopPropagation();
  }

  dispose(): void {
    this.element.remove();
  }

  private fill(card: Card): void {
    const head = make('div', 'di-card-title');
    if (card.color) {
      const swatch = make('span', 'di-swatch');
      swatch.style.backgroundColor = card.color;
      head.append(swatch);
    }
    head.append(make('span', 'di-card-name', card.title));
    const parts: HTMLElement[] = [head];
    for (const group of card.groups) {
      if (group.length === 0) continue;
      const isMinor = group.every(line => line.minor);
      const list = make('dl', isMinor ? 'di-card-lines di-minor' : 'di-card-lines');
      for (const line of group) list.append(...lineOf(line));
      parts.push(list);
    }
    const more = card.text || card.groups.some(group => group.some(line => line.minor));
    if (more) parts.push(make('div', 'di-card-more', 'Click for more'));
    if (card.text) {
      const text = make('pre', 'di-card-text', card.text);
      text.tabIndex = 0;
      parts.push(text);
    }
    this.element.replaceChildren(...parts);
    this.element.classList.remove('di-pinned');
  }

  /** Moves the card beside a box, in CSS pixels of the window. */
  place(target: Box): void {
    this.target = target;
    this.element.style.maxHeight = '';
    const { width, height } = this.element.getBoundingClientRect();
    const across = window.innerWidth;
    const down = window.innerHeight;
    const middle = target.x + target.width / 2 - width / 2;
    const x = clamped(middle, 4, across - width - 4);
    const below = target.y + target.height + GAP;
    const above = target.y - GAP - height;
    let left = x;
    let top: number;
    if (below + height <= down) top = below;
    else if (above >= 0) top = above;
    else {
      top = clamped(target.y, 4, down - height - 4);
      const right = target.x + target.width + GAP;
      const before = target.x - GAP - width;
      if (right + width <= across) left = right;
      else if (before >= 4) left = before;
      else {
        // There is no room for all of it anywhere: it is cut to the side with more.
        const room = Math.max(LEAST, down - below, target.y - GAP) - 4;
        top = down - below >= target.y - GAP ? below : Math.max(4, target.y - GAP - room);
        this.element.style.maxHeight = `${Math.round(room)}px`;
      }
    }
    this.element.style.left = `${Math.round(left)}px`;
    this.element.style.top = `${Math.round(top)}px`;
  }
}

/** The outermost place whose styles hold for an element: within a shadow tree, that tree. */
function layerOf(near: Element): Node & ParentNode {
  const root = near.getRootNode();
  return root instanceof ShadowRoot ? root : document.body;
}

function clamped(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}

function make(tag: string, className: string, text = ''): HTMLElement {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

function makeButton(className: string, text: string, press: () => void): HTMLButtonElement {
  const button = make('button', className, text) as HTMLButtonElement;
  button.type = 'button';
  button.addEventListener('click', press);
  return button;
}

function lineOf(line: CardLine): HTMLElement[] {
  const value = make('dd', line.tone ? `di-${line.tone}` : '');
  if (line.copy === undefined) {
    value.textContent = line.value;
  } else {
    const { copy } = line;
    const button = makeButton('di-copy', line.value, () => {
      void copyText(copy, button).then(done => {
        button.textContent = done ? 'Copied' : copy;
      });
    });
    button.title = 'Copy';
    value.append(button);
  }
  if (line.code) value.append(make('code', 'di-card-code', line.code));
  const label = make('dt', '', line.label);
  if (line.minor) for (const part of [label, value]) part.classList.add('di-minor');
  return [label, value];
}

/** Puts text on the clipboard, for a button that has been pressed and has the focus then; false where the page may not. */
export async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  const focus = (): void => button.focus({ preventScroll: true });
  // Not every browser gives the focus to a button that is pressed.
  focus();
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.style.cssText = 'position:fixed;opacity:0';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    // This way to copy has taken it.
    focus();
    return done;
  }
}
