import { button, element } from '@dask-insight/panels/panels/element';
import type { Panel } from '@dask-insight/panels/panels/panel';
import { panelIcon } from '../icons';
import { SEARCH_WORDS } from './search-words';

/** What an entry does. */
export interface EntryActions {
  open(panel: Panel): void;
  /** A press on an entry has begun that may become a drag; missing where there is nowhere to drop it. */
  press?(panel: Panel, event: PointerEvent): void;
}

/** The code of a key that puts a sign together. */
const COMPOSED = 229;

/** A search box over one entry for each panel. */
export class Entries {
  readonly element: HTMLElement;
  readonly search = element('input', {
    type: 'search',
    class: 'di-search',
    placeholder: 'Find a panel',
    'aria-label': 'Find a panel'
  });
  private readonly items: { panel: Panel; item: HTMLElement; press: HTMLButtonElement }[];
  private readonly nothing = element('p', { class: 'di-hint', hidden: true }, 'No panel is about this.');

  constructor(
    panels: readonly Panel[],
    private readonly actions: EntryActions
  ) {
    this.items = panels.map(panel => entry(panel, actions));
    const list = element('ul', { 'aria-label': 'Panels' }, ...this.items.map(({ item }) => item));
    this.element = element('div', { class: 'di-entries' }, this.search, list, this.nothing);
    this.search.addEventListener('input', () => this.filter());
    this.element.addEventListener('keydown', event => this.key(event));
  }

  /** Says whether panels can be opened at all, and which are open. */
  show(usable: boolean, open: ReadonlySet<string>): void {
    const offer = this.actions.press ? '; drag it to any place' : '';
    for (const { panel, press } of this.items) {
      press.disabled = !usable;
      press.toggleAttribute('data-open', open.has(panel.id));
      press.title = usable
        ? `${open.has(panel.id) ? 'Go to' : 'Open'} ${panel.title}${offer}`
        : 'Open a notebook first';
    }
  }

  private get shown(): HTMLButtonElement[] {
    return this.items.filter(({ item }) => !item.hidden).map(({ press }) => press);
  }

  private filter(): void {
    const wanted = this.search.value.trim().toLowerCase();
    for (const { panel, item } of this.items) {
      item.hidden = !`${panel.title}, ${SEARCH_WORDS[panel.id]}`.toLowerCase().includes(wanted);
    }
    this.nothing.hidden = this.shown.length > 0;
  }

  /** Arrow keys walk through box and entries; Enter in the box opens the first one. */
  private key(event: KeyboardEvent): void {
    // Keys that put a sign together, as of Chinese or with accents, are not for us; Safari tells the last by its code.
    if (event.isComposing || event.keyCode === COMPOSED) return;
    const { shown } = this;
    const at = shown.indexOf(event.target as HTMLButtonElement);
    if (event.key === 'Enter' && event.target === this.search) shown[0]?.click();
    else if (event.key === 'Escape' && event.target === this.search && this.search.value !== '') {
      this.search.value = '';
      this.filter();
    } else if (event.key === 'ArrowDown') shown[Math.min(at + 1, shown.length - 1)]?.focus();
    else if (event.key === 'ArrowUp') (at > 0 ? shown[at - 1] : this.search).focus();
    else if (event.key === 'Home' && at >= 0) shown[0].focus();
    else if (event.key === 'End' && at >= 0) shown.at(-1)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function entry(
  panel: Panel,
  actions: EntryActions
): { panel: Panel; item: HTMLElement; press: HTMLButtonElement } {
  const press = button(panel.title, () => actions.open(panel));
  press.className = 'di-entry';
  press.dataset.panel = panel.id;
  press.prepend(panelIcon(panel.id).element({ tag: 'span', className: 'di-entry-icon' }));
  press.toggleAttribute('data-draggable', actions.press !== undefined);
  press.addEventListener('pointerdown', event => actions.press?.(panel, event));
  return { panel, press, item: element('li', {}, press) };
}
