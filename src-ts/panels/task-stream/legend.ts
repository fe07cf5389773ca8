import { count, duration, plural, shortened } from '../../core/format';
import { SECEDED } from '../../core/schema';
import { sizersOf } from '../../core/sizing';
import { focusIn } from '../../draw/focus';
import { css, type Reserved, reservedColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';
import { element, swatch } from '../element';
import type { Sign, Stage } from '../panel';
import { lookedFor, searchBox } from '../search-box';
import { nameColor } from './colors';

/** Names shown before a person asks for all. */
const SHOWN = 12;

/** Letters of a name that are shown. */
const LETTERS = 28;

/** The signs that are no task names, and how they look without colour. */
const SIGNS: readonly (readonly [Reserved, string, string])[] = [
  ['transfer', 'transfer', 'half height'],
  ['disk', 'disk', 'hatched'],
  ['deserialize', 'deserialize', 'low bar'],
  ['erred', 'failed', 'black, with a notch']
];

/** Shown where tasks have given their threads back; it has no colour of its own. */
const AWAY: (typeof SIGNS)[number] = ['deserialize', 'without a thread', 'low bar in the colour of the task'];

/** Shown where workers took long to find out how large results are. */
const SIZING: (typeof SIGNS)[number] = ['overhead', 'finding out sizes', 'low bar'];

export interface LegendHooks {
  /** Chooses or leaves a name. */
  choose(name: string, additive: boolean): void;
  /** Chooses all of these names. */
  chooseAll(names: readonly string[]): void;
  isChosen(name: string): boolean;
  /** Is it shown in full: is it chosen, or none at all? */
  isBright(name: string): boolean;
  isHidden(name: string): boolean;
  hide(name: string, hidden: boolean): void;
}

/** Names with their colours: to find, to choose, to hide. */
export class Legend {
  readonly element = element('div', { class: 'di-legend', role: 'group', 'aria-label': 'Task names' });
  readonly search = searchBox('Find a task name', 'Find a task name; Enter chooses all that match', () =>
    this.last?.()
  );
  private readonly list = element('ul', { class: 'di-legend-list' });
  private readonly signs = element('ul', { class: 'di-legend-list di-legend-signs' });
  private expanded = false;
  private drawn = '';
  private last: (() => void) | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly hooks: LegendHooks
  ) {
    this.search.addEventListener('keydown', event => this.key(event));
    this.element.append(this.search, this.list, this.signs);
    this.list.addEventListener('pointerleave', () => {
      this.stage.selection.highlight = undefined;
    });
  }

  /** Shows the names as they stand now. */
  update(theme: Theme): void {
    this.last = () => this.update(theme);
    const query = lookedFor(this.search);
    const { names } = this.stage.tasks;
    const found = this.found(query);
    const shown = this.expanded || query ? found.slice(0, 400) : found.slice(0, SHOWN);
    const state = shown.map(index => {
      const name = names[index];
      const { hooks } = this;
      return JSON.stringify([index, name, hooks.isChosen(name), hooks.isBright(name), hooks.isHidden(name)]);
    });
    const signs = this.signsOf();
    const key = [
      signs.map(([, label]) => label).join(),
      theme.dark,
      theme.contrast,
      theme.palette,
      query,
      found.length,
      this.expanded,
      ...state
    ].join('|');
    if (key === this.drawn) return;
    this.drawn = key;
    const focused = focusIn(this.list)?.dataset.key;
    const items = shown.map(index => this.item(index, theme));
    if (query && found.length === 0)
      items.push(element('li', { class: 'di-muted' }, 'No task name matches.'));
    if (!query && found.length > SHOWN) items.push(this.more(found.length - SHOWN));
    this.list.replaceChildren(...items);
    if (focused) this.list.querySelector<HTMLElement>(`[data-key=${CSS.escape(focused)}]`)?.focus();
    this.signs.replaceChildren(...signs.map(sign => signItem(sign, theme)));
  }

  /** The same for a saved picture: names that are shown, then the signs. */
  forPicture(theme: Theme): Sign[] {
    const { names } = this.stage.tasks;
    const shown = this.stage.tasks.totals
      .ranked()
      .map(index => names[index])
      .filter(name => !this.hooks.isHidden(name))
      .slice(0, 40)
      .map(name => ({ color: nameColor(name, this.stage.colors, theme), label: shortened(name, LETTERS) }));
    return [
      ...this.signsOf().map(([kind, label]) => ({ color: css(reservedColor(kind, theme)), label })),
      ...shown
    ];
  }

  /** Names that match what is looked for, those with most time first. */
  private found(query: string): readonly number[] {
    const { totals, names } = this.stage.tasks;
    const ranked = totals.ranked();
    return query ? ranked.filter(name => names[name].toLowerCase().includes(query)) : ranked;
  }

  /** A report tells the signs ahead of the rows that show them: what stands below would move. */
  private signsOf(): typeof SIGNS {
    const { recording } = this.stage.tasks;
    const told = recording.about('signs');
    const { names } = recording.table('phases').symbols('action');
    const sizing = Array.isArray(told) ? told.includes('sizing') : sizersOf(recording).size > 0;
    const away = Array.isArray(told) ? told.includes(SECEDED) : names.includes(SECEDED);
    return [...SIGNS, ...(sizing ? [SIZING] : []), ...(away ? [AWAY] : [])];
  }

  private item(index: number, theme: Theme): HTMLElement {
    const name = this.stage.tasks.names[index];
    const chosen = this.hooks.isChosen(name);
    const hidden = this.hooks.isHidden(name);
    const shown = name || '(no name)';
    const label = element('bdi', {}, shortened(shown, LETTERS));
    const choose = element(
      'button',
      {
        type: 'button',
        class: 'di-legend-name',
        'aria-pressed': String(chosen),
        'data-key': `n${index}`
      },
      swatch(nameColor(name, this.stage.colors, theme)),
      label
    );
    choose.addEventListener('click', event =>
      this.hooks.choose(name, event.shiftKey || event.ctrlKey || event.metaKey)
    );
    // Told when it is asked for: to make the names anew with each task that ends would lose clicks on them.
    const tell = (): void => {
      const { counts, seconds } = this.stage.tasks.totals;
      choose.title = `${shown}: ${plural(counts[index], 'task')}, ${duration(seconds[index])} in all`;
    };
    const point = (): void => {
      this.stage.selection.highlight = name;
    };
    tell();
    choose.addEventListener('pointerenter', () => {
      tell();
      point();
    });
    choose.addEventListener('focus', () => {
      tell();
      if (choose.matches(':focus-visible')) point();
    });
    choose.addEventListener('blur', () => {
      this.stage.selection.highlight = undefined;
    });
    const hide = element(
      'button',
      {
        type: 'button',
        class: 'di-legend-hide',
        'aria-label': `${hidden ? 'Show' : 'Hide'} ${shown}`,
        title: hidden ? 'Show' : 'Hide',
        'data-key': `h${index}`
      },
      hidden ? '+' : '×'
    );
    hide.addEventListener('click', () => this.hooks.hide(name, !hidden));
    const faded = hidden || !this.hooks.isBright(name);
    return element(
      'li',
      { class: `di-legend-item${faded ? ' di-faded' : ''}${hidden ? ' di-struck' : ''}` },
      choose,
      hide
    );
  }

  private more(left: number): HTMLElement {
    const toggle = element(
      'button',
      { type: 'button', class: 'di-legend-more', 'data-key': 'more', 'aria-expanded': String(this.expanded) },
      this.expanded ? 'fewer' : `${count(left)} more`
    );
    toggle.addEventListener('click', () => {
      this.expanded = !this.expanded;
      this.last?.();
    });
    return element('li', {}, toggle);
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'Enter') return;
    const query = lookedFor(this.search);
    const found = query ? this.found(query) : [];
    const { names } = this.stage.tasks;
    if (!query || found.length > 0) this.hooks.chooseAll(found.map(index => names[index]));
    event.preventDefault();
    event.stopPropagation();
  }
}

function signItem([kind, label, shape]: (typeof SIGNS)[number], theme: Theme): HTMLElement {
  const sign = swatch(css(reservedColor(kind, theme)), `di-sign-${kind}`);
  return element('li', { class: 'di-legend-item', title: shape }, sign, element('span', {}, label));
}
