import { count, duration, nameOrNone, plural, shortened } from '../../core/format';
import { SECEDED } from '../../core/schema';
import { sizersOf } from '../../core/sizing';
import { focusIn } from '../../draw/focus';
import { css, type Reserved, reservedColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';
import { button, clickable, element, setHidden, setWords, swatch } from '../element';
import type { Sign, Stage } from '../panel';
import { lookedFor, searchBox } from '../search-box';
import { nameColor } from './colors';

/** Names shown before a person asks for all. */
const SHOWN = 12;
/** And the most that are shown then, or found. */
const MOST = 400;

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

/** A name, and how it is shown. */
type Item = readonly [index: number, name: string, chosen: boolean, bright: boolean, hidden: boolean];

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
  /** In words, how many names are hidden; nothing where none is. */
  readonly hiddenWords: string;
  showAll(): void;
}

/** Names with their colours: to find, to choose, to hide. */
export class Legend {
  readonly element = element('div', { class: 'di-legend', role: 'group', 'aria-label': 'Task names' });
  readonly search = searchBox('Find a task name', 'Find a task name; Enter chooses all that match', () =>
    this.last?.()
  );
  private readonly list = element('ul', { class: 'di-legend-list' });
  private readonly signs = element('ul', { class: 'di-legend-list di-legend-signs' });
  private readonly all = button('', () => {
    this.hooks.showAll();
    // The button goes.
    this.list.querySelector('button')?.focus({ preventScroll: true });
  });
  private expanded = false;
  private pressed = false;
  private drawn = '';
  private last: (() => void) | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly hooks: LegendHooks
  ) {
    this.search.addEventListener('keydown', event => this.key(event));
    this.element.append(this.search, this.list, this.signs, this.all);
    // What is pressed and let go is a click only where it stays.
    this.list.addEventListener('pointerdown', ({ button }) => {
      this.pressed = button === 0;
    });
    const release = (): void => {
      this.pressed = false;
      this.last?.();
    };
    this.list.addEventListener('click', release);
    this.list.addEventListener('pointerleave', () => {
      this.stage.selection.highlight = undefined;
      release();
    });
  }

  /** Shows the names as they stand now; where one is pressed, once it is let go. */
  update(theme: Theme): void {
    this.last = () => this.update(theme);
    if (this.pressed) return;
    const query = lookedFor(this.search);
    const { names } = this.stage.tasks;
    const { hooks } = this;
    const { hiddenWords } = hooks;
    const found = this.found(query);
    const isWide = this.expanded || query !== '';
    const focused = focusIn(this.list)?.dataset.key;
    const kept = Number(focused?.slice(1));
    const shown = found.filter((index, at) => at < (isWide ? MOST : SHOWN) || index === kept);
    const items = shown.map((index): Item => {
      const name = names[index];
      return [index, name, hooks.isChosen(name), hooks.isBright(name), hooks.isHidden(name)];
    });
    const signs = this.signsOf();
    setWords(this.all, `${hiddenWords}, show all`);
    setHidden(this.all, hiddenWords === '');
    const key = JSON.stringify([signs, theme, query, found.length, this.expanded, items]);
    if (key === this.drawn) return;
    this.drawn = key;
    const made = items.map(item => this.item(item, theme));
    const left = found.length - shown.length;
    const words = isWide && left > 0 ? `${count(left)} more: search to find them` : '';
    const said = query && found.length === 0 ? 'No task name matches.' : words;
    if (said) made.push(element('li', { class: 'di-muted' }, said));
    if (!query && found.length > SHOWN) made.push(this.more(left));
    this.list.replaceChildren(...made);
    this.list.querySelector<HTMLElement>(`[data-key=${focused}]`)?.focus({ preventScroll: true });
    this.signs.replaceChildren(...signs.map(sign => signItem(sign, theme)));
  }

  /** The same for a saved picture: the signs that have a colour, then names that are shown. */
  forPicture(theme: Theme): Sign[] {
    const { names } = this.stage.tasks;
    const shown = this.stage.tasks.totals
      .ranked()
      .map(index => names[index])
      .filter(name => !this.hooks.isHidden(name))
      .slice(0, 40)
      .map(name => ({ color: nameColor(name, this.stage.colors, theme), label: shortened(name, LETTERS) }));
    return [
      ...this.signsOf()
        .filter(sign => sign !== AWAY)
        .map(([kind, label]) => ({ color: css(reservedColor(kind, theme)), label })),
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
    const about = recording.about('signs');
    const { names } = recording.table('phases').symbols('action');
    const told = Array.isArray(about) ? about : [...names, sizersOf(recording).size > 0 && 'sizing'];
    return [
      ...SIGNS,
      ...(told.includes('sizing') ? [SIZING] : []),
      ...(told.includes(SECEDED) ? [AWAY] : [])
    ];
  }

  private item([index, name, chosen, bright, hidden]: Item, theme: Theme): HTMLElement {
    const shown = nameOrNone(name);
    const label = element('bdi', {}, shortened(shown, LETTERS));
    const choose = clickable(
      { class: 'di-legend-name', 'aria-pressed': String(chosen), 'data-key': `n${index}` },
      event => this.hooks.choose(name, event.shiftKey || event.ctrlKey || event.metaKey),
      swatch(nameColor(name, this.stage.colors, theme)),
      label
    );
    // Told when it is asked for: to make the names anew with each task that ends would lose clicks on them.
    const tell = (): void => {
      const { counts, seconds } = this.stage.tasks.totals;
      choose.title = `${shown}: ${plural(counts[index], 'attempt')}, ${duration(seconds[index])} in all`;
    };
    const point = (): void => {
      tell();
      this.stage.selection.highlight = name;
    };
    tell();
    choose.addEventListener('pointerenter', point);
    choose.addEventListener('focus', () => choose.matches(':focus-visible') && point());
    choose.addEventListener('blur', () => {
      this.stage.selection.highlight = undefined;
    });
    const title = hidden ? 'Show' : 'Hide';
    const hide = clickable(
      { class: 'di-legend-hide', 'aria-label': `${title} ${shown}`, title, 'data-key': `h${index}` },
      () => this.hooks.hide(name, !hidden),
      hidden ? '+' : '×'
    );
    const faded = hidden || !bright;
    return element(
      'li',
      { class: `di-legend-item${faded ? ' di-faded' : ''}${hidden ? ' di-struck' : ''}` },
      choose,
      hide
    );
  }

  private more(left: number): HTMLElement {
    const toggle = clickable(
      { class: 'di-legend-more', 'data-key': 'more', 'aria-expanded': String(this.expanded) },
      () => {
        this.expanded = !this.expanded;
      },
      this.expanded ? 'fewer' : `${count(left)} more`
    );
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
