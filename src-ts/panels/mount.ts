import { dateTime, duration, range } from '../core/format';
import { lackOf } from '../core/lacks';
import { focusIn } from '../draw/focus';
import { listen } from '../draw/gestures';
import { Surface } from '../draw/surface';
import { Tooltip } from '../draw/tooltip';
import { atPace } from './at-pace';
import { clausesWords, fillChips } from './chips';
import { button, element, setHidden, setPressed, setWords } from './element';
import { inline } from './findings/prose';
import { icon } from './icons';
import { Interaction } from './interaction';
import { menuUnder } from './menu';
import { isOfChoice } from './no-tasks';
import type { Panel, PanelView, Stage } from './panel';
import { offer, type Picture, toPng, toSvg } from './picture';
import { Table } from './table';
import { type Patient, whenIdle, whenNear } from './when-near';

/** A panel in a page. */
export interface Mounted {
  readonly element: HTMLElement;
  readonly view: PanelView;
  readonly surface: Surface;
  /** Says and shows now what is known by now. */
  layout(): void;
  /** Puts away the card that is shown, or what the arrow keys are on; false if there is neither. */
  dismiss(): boolean;
  dispose(): void;
}

/** Least time between two pictures because of new data, and between two tables, milliseconds. */
const LIVE = 80;
const LIVE_TABLE = 1000;

/** And at least this many times what the last one took, so that new data leave most of the time to the person. */
const PATIENCE = 10;

/** So that panels which hear of the same rows are drawn in the same frame, since each frame has a cost of its own. */
const together = (wait: number): number => LIVE * Math.ceil(wait / LIVE);

/** Panels that have been mounted: ids of elements are made from it. */
let count = 0;

/** Least height of a drawing that fills its place, CSS pixels. */
const LEAST_FILLING = 140;

export interface MountOptions {
  /** The place has a height of its own: a drawing that can makes use of it. */
  readonly fill?: boolean;
  /** Width of the place, CSS pixels, where it is known: to ask for it costs a layout. */
  readonly width?: number;
  /** See `PanelContext`. */
  readonly request?: (wanted: boolean) => void;
}

/** Puts a panel into a page: the frame around it and all that panels have in common. */
export function mount(
  panel: Panel,
  stage: Stage,
  host: HTMLElement,
  { fill = false, width, request }: MountOptions = {}
): Mounted {
  const stops: (() => void)[] = [];
  const surface = new Surface();
  const tooltip = new Tooltip(host, () => interaction.back());
  const live = element('div', { class: 'di-unseen', 'aria-live': 'polite' });
  const view = panel.create({
    ...stage,
    surface,
    say: words => {
      live.textContent = words;
    },
    request
  });
  const interaction: Interaction = new Interaction(panel, view, stage, surface, tooltip, words => {
    live.textContent = words;
  });

  const titleId = `di-title-${panel.id}-${++count}`;
  const chips = element('div', { class: 'di-chips' });
  const actions = element('div', { class: 'di-actions' });
  const head = element('header', {}, element('h2', { id: titleId }, panel.title), chips);
  const paper = element('span', { class: 'di-on-paper' });
  head.append(...(view.controls ?? []), paper, actions);
  const empty = element('p', { class: 'di-empty', hidden: true });
  const tableBox = element('div', { class: 'di-panel-table', hidden: true });
  const save = view.plain ? undefined : saveMenu(() => pictureOf(panel, view, stage, surface));
  const section = element('section', { class: `di-panel di-panel-${panel.id}`, 'aria-labelledby': titleId });
  surface.element.tabIndex = 0;
  surface.element.setAttribute('role', view.reader?.role ?? 'application');
  if (view.reader) surface.element.append(view.reader.element);
  else surface.element.setAttribute('aria-roledescription', 'chart');
  surface.element.setAttribute('aria-label', `${panel.title}. ${keysOf(panel, view)}`);
  section.append(head, ...parts(view.above), surface.element, ...parts(view.below), empty, tableBox, live);
  host.append(section);

  let shownWords: string | undefined;
  /** What of the panel is shown at all; true if that is a drawing. */
  const stand = (): boolean => {
    const reason = view.empty();
    // What another choice may show is no lack.
    const lack = reason && !isOfChoice(reason) ? lackOf(stage.recording, panel.tables) : undefined;
    const words = lack ?? reason;
    if (words !== shownWords) empty.replaceChildren(...inline(words ?? ''));
    shownWords = words;
    setHidden(empty, words === undefined);
    setHidden(surface.element, words !== undefined || view.plain === true);
    // A class of its own: whether there is anything in them is the view's to say, by `hidden`.
    for (const each of parts(view.above, view.below, save)) {
      each.classList.toggle('di-away', words !== undefined);
    }
    section.removeAttribute('aria-busy');
    section.classList.toggle('di-bare', words !== undefined && !isOfChoice(words));
    return words === undefined;
  };

  /** What the last layout and the last drawing took, milliseconds. */
  const cost = { layout: 0, draw: 0 };
  const layout = (): void => {
    const began = performance.now();
    if (stand()) {
      view.layout();
      // Only now may a view know that there is nothing.
      stand();
    }
    if (!tableBox.hidden) fillTable();
    interaction.renewed();
    cost.layout = performance.now() - began;
    fit();
  };

  const fills = (): boolean => fill && view.fills === true;
  const fit = (): void => {
    const own = view.height(surface.width || (width ?? host.clientWidth));
    const room = fills() && tableBox.hidden ? roomIn(host, section, surface.element) : 0;
    const height = room > 0 ? Math.max(room, Math.min(own, LEAST_FILLING)) : own;
    const wanted = `${Math.round(height)}px`;
    if (surface.element.style.height !== wanted) surface.element.style.height = wanted;
  };

  let shownTable: Table | undefined;
  const fillTable = (): void => {
    const rows = tableBox.hidden || view.empty() !== undefined ? undefined : view.rows?.();
    const caption = panel.title + (rows?.note ?? '');
    if (!rows) {
      shownTable = undefined;
      tableBox.replaceChildren();
    } else if (shownTable) {
      shownTable.renew({ caption, rows });
    } else {
      shownTable = new Table({ caption, rows });
      tableBox.replaceChildren(shownTable.element);
    }
  };

  if (view.search) {
    const { search } = view;
    actions.append(button('Search (/)', () => search.focus(), icon('search')));
  }
  if (view.rows) {
    const show = (): void => {
      tableBox.hidden = !tableBox.hidden;
      setPressed(asTable, !tableBox.hidden);
      fillTable();
      fit();
    };
    const asTable = button('Show as table', show, icon('table'));
    setPressed(asTable, false);
    actions.append(asTable);
  }
  actions.append(...parts(save));

  let chosen = '';
  /** Says what is chosen, where that is something else by now; the place of the chip that had the focus, or -1. */
  const renewChips = (): number => {
    // What is pressed and let go is a click only where it stays.
    const now = [stage.selection.save(), ...clausesWords(stage)].join();
    if (now === chosen) return -1;
    chosen = now;
    const focused = [...chips.children].indexOf(focusIn(chips) as Element);
    fillChips(chips, panel, stage);
    return focused;
  };

  const rest = view.plain ? patience(view, section, layout) : undefined;
  let unseen = false;
  const resized = new ResizeObserver(() => {
    if (unseen) renew();
    // A choice or a search takes lines away above the drawing, of this panel or of another.
    interaction.pageMoved(false);
  });
  resized.observe(section);
  resized.observe(document.body);
  stops.push(() => resized.disconnect());
  // What is hidden or has no height draws no frames, and a change may have to bring it back.
  const renew = (): void => {
    // A panel in a tab that is not shown costs nothing until it is.
    unseen = section.isConnected && section.getClientRects().length === 0;
    if (unseen) {
      surface.invalidate('layout');
      return;
    }
    const focused = renewChips();
    if (rest) rest.renew();
    else if (surface.element.hidden || surface.height === 0) {
      if (!tableBox.hidden) layout();
      else if (stand()) fit();
    }
    surface.invalidate('layout');
    // Text is found, and read aloud, far from the window, too.
    if (!tableBox.hidden) whenIdle(() => surface.commit());
    if (focused < 0) return;
    const chip = chips.children[focused] as HTMLElement | undefined;
    if (chip) chip.focus({ preventScroll: true });
    else focusPanel(surface, section);
  };
  const pace = (): number => {
    const least = (view.plain && !view.prompt) || !tableBox.hidden ? LIVE_TABLE : LIVE;
    return together(Math.max(least, PATIENCE * (cost.layout + cost.draw)));
  };
  // Parts of what has ended are given time to be whole: drawn one by one, they would move what stands below.
  const grown = atPace(pace, renew, { prompt: stage.live });
  const root = section.getRootNode() as Document | ShadowRoot;
  // From outside no more than itself is seen of a shadow tree.
  const seen = [surface.element, 'host' in root ? root.host : null];
  const scrolled = ({ target }: Event): void => {
    if (target instanceof Node && seen.some(each => target.contains(each))) interaction.pageMoved(true);
  };
  stops.push(
    grown.stop,
    stage.selection.subscribe(renew),
    stage.selection.onHighlight(() => surface.invalidate('base')),
    stage.recording.onAppend(({ table: name }) => {
      if (!panel.tables.includes(name)) return;
      // Why there is nothing may be untrue by now.
      if (shownWords !== undefined && !stage.live) section.setAttribute('aria-busy', 'true');
      grown.soon();
    }),
    stage.recording.onReplace(renew),
    listen(surface.element, interaction.handlers()),
    heard(surface.element, 'blur', () => interaction.left()),
    heard(window, 'beforeprint', () => setWords(paper, view.shows?.() ?? '')),
    heard(document, 'scroll', scrolled),
    heard(root, 'scroll', scrolled)
  );
  if (panel.overTime) {
    let shown = '';
    stops.push(
      stage.viewport.subscribe(() => {
        const { start, stop, moving, origin } = stage.viewport;
        const now = [start, stop, moving, origin].join();
        if (now === shown) return;
        shown = now;
        surface.invalidate('base');
        interaction.moved();
        // A table may have only what is in sight.
        if (!tableBox.hidden && !moving) grown.soon();
      }),
      stage.viewport.onCursor(() => surface.invalidate('overlay'))
    );
  }
  fit();
  if (fill && view.fills !== undefined) {
    const room = new ResizeObserver(fit);
    for (const each of [host, head, ...parts(view.above, view.below)]) room.observe(each);
    stops.push(() => room.disconnect());
  }
  if (!rest) stand();
  surface.start({
    layout,
    draw: pen => {
      const began = performance.now();
      if (!surface.element.hidden) view.draw(pen);
      cost.draw = performance.now() - began;
    },
    drawOverlay: sheet => interaction.drawOverlay(sheet),
    ...(rest && { themed: renew })
  });
  // What is far from the window is laid out later: the first picture does not wait for it.
  if (rest) {
    stops.push(rest.stop);
    rest.renew();
  }
  renewChips();

  return {
    element: section,
    view,
    surface,
    layout,
    dismiss: () => interaction.dismiss(),
    dispose: () => {
      for (const stop of stops) stop();
      // Nobody tells what is taken away that the pointer has left it.
      stage.viewport.cursor = Number.NaN;
      stage.selection.highlight = undefined;
      view.dispose?.();
      tooltip.dispose();
      surface.dispose();
      section.remove();
    }
  };
}

/** What has no picture is laid out when it comes near the window, or at once. */
function patience(view: PanelView, section: HTMLElement, layout: () => void): Patient {
  return view.prompt ? { renew: layout, stop: () => {} } : whenNear(section, layout);
}

/** Puts the keyboard into a panel: into its drawing, or where there is none to what can be pressed first. */
export function focusPanel({ element }: Surface, section: HTMLElement): void {
  const first = section.querySelector<HTMLElement>(
    'button:not([hidden]), select, input, summary, [tabindex]'
  );
  (element.hidden ? (first ?? section) : element).focus({ preventScroll: true });
}

/** Listens, also to what happens to something within. Returns the stop. */
function heard(where: EventTarget, what: string, then: (event: Event) => void): () => void {
  const how = { capture: true, passive: true };
  where.addEventListener(what, then, how);
  return () => where.removeEventListener(what, then, how);
}

function parts(...elements: (HTMLElement | undefined)[]): HTMLElement[] {
  return elements.filter(each => each !== undefined);
}

/** What a place has left for a drawing beside all else in it, CSS pixels. */
function roomIn(host: HTMLElement, section: HTMLElement, drawing: HTMLElement): number {
  const { paddingTop, paddingBottom } = getComputedStyle(host);
  const padding = Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom);
  return host.clientHeight - padding - (section.offsetHeight - drawing.offsetHeight);
}

function keysOf(panel: Panel, view: PanelView): string {
  const time = 'Plus and minus zoom, arrow keys pan, 0 shows everything, S chooses the time that is shown.';
  const marks =
    'Enter steps into the chart; arrow keys then go from one item to the next. Enter keeps the card, Tab goes into it. Escape clears.';
  return [panel.overTime ? time : '', view.move ? marks : ''].join(' ').trim();
}

function pictureOf(panel: Panel, view: PanelView, stage: Stage, surface: Surface): Picture {
  const { recording, viewport } = stage;
  const about = [
    view.shows?.(),
    view.above?.matches('.di-note') && view.above.textContent,
    String(recording.about('name') ?? 'Recording'),
    dateTime(recording.origin)
  ];
  if (panel.overTime && !view.ownAxis) {
    const from = viewport.start - recording.origin;
    about.push(`${range(from, from + viewport.span)} of ${duration(recording.end - recording.origin)}`);
  }
  about.push(...clausesWords(stage), 'dask_insight');
  return {
    title: panel.title,
    caption: about.filter(Boolean).join(' · '),
    width: surface.width,
    height: surface.height,
    theme: surface.theme,
    signs: view.signs?.() ?? [],
    draw: pen => view.draw(pen)
  };
}

function saveMenu(picture: () => Picture): HTMLElement {
  const summary = element(
    'summary',
    { class: 'di-icon', title: 'Save picture', 'aria-label': 'Save picture' },
    icon('save')
  );
  const save = async (kind: 'png' | 'svg'): Promise<void> => {
    // What was pressed is hidden with the menu.
    summary.focus({ preventScroll: true });
    menu.open = false;
    setWords(failure, '');
    try {
      const made = picture();
      const name = `${made.title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.${kind}`;
      offer(kind === 'png' ? await toPng(made) : toSvg(made), name);
    } catch (error) {
      setWords(failure, (error as Error).message);
      menu.open = true;
    }
  };
  const failure = element('div', { role: 'alert' });
  const box = element('div', { class: 'di-menu' });
  box.append(
    button('PNG picture', () => void save('png')),
    button('SVG drawing', () => void save('svg')),
    failure
  );
  const menu = menuUnder(summary, box);
  return menu;
}
