import { button, element } from '../panels/element';
import { icon } from '../panels/icons';
import { type Mounted, mount } from '../panels/mount';
import type { Panel, Stage } from '../panels/panel';
import { keepAddress } from './address';
import { drawAhead } from './draw-ahead';
import { help } from './help';
import { keepPrintable } from './printing';
import { themeSwitch } from './theme-switch';

/** Which panels stand where; a panel that is named nowhere comes last. */
const ROWS: readonly (readonly string[])[] = [
  ['time-budget'],
  ['task-stream'],
  ['resources'],
  ['memory'],
  ['flame-graph', 'fine-metrics'],
  ['functions', 'workers'],
  ['spans']
];

/** Rows that fill the first window; the others come after the first picture. */
const FIRST_ROWS = 2;

/** All panels of one recording in a page. */
export interface Page {
  /** When the last panel is there. */
  readonly complete: Promise<void>;
  stop(): void;
}

/** Puts all panels into a page, with what the page has once: tools, keys, address. */
export function page(main: HTMLElement, tools: HTMLElement, panels: readonly Panel[], stage: Stage): Page {
  const mounted: Mounted[] = [];
  const left = new Set(panels);
  const put = (row: readonly Panel[]): void => {
    const box = element('div', { class: row.length > 1 ? 'di-columns' : 'di-row' });
    main.append(box);
    for (const panel of row) {
      const cell = element('div', { class: 'di-cell' });
      box.append(cell);
      mounted.push(mount(panel, stage, cell));
    }
  };
  const rows = ROWS.map(names => names.flatMap(name => panels.filter(panel => panel.id === name)));
  for (const row of rows) for (const panel of row) left.delete(panel);
  const waiting = [...rows, ...[...left].map(panel => [panel])].filter(row => row.length > 0);
  for (const row of waiting.splice(0, FIRST_ROWS)) put(row);
  let stopped = false;
  const putRest = async (): Promise<void> => {
    for (const row of waiting) {
      await painted();
      if (stopped) return;
      put(row);
    }
  };

  const { selection } = stage;
  const undo = button('Undo (Ctrl + Z)', () => selection.undo(), icon('undo'));
  const redo = button('Redo (Ctrl + Shift + Z)', () => selection.redo(), icon('redo'));
  const fit = button('Show the whole time (0)', () => stage.viewport.fit(), icon('fit'));
  const keys = help();
  tools.replaceChildren(undo, redo, fit, themeSwitch(), keys.opener);
  const enable = (): void => {
    undo.disabled = !selection.canUndo;
    redo.disabled = !selection.canRedo;
    fit.disabled = stage.viewport.fitted;
  };
  enable();

  const stops = [
    selection.subscribe(enable),
    stage.viewport.subscribe(enable),
    keepAddress(stage),
    listenToKeys(stage, mounted, keys.open),
    keepPrintable(mounted),
    drawAhead(mounted)
  ];
  return {
    complete: putRest(),
    stop: () => {
      stopped = true;
      for (const stop of stops) stop();
      for (const each of mounted) each.dispose();
      tools.replaceChildren();
      main.replaceChildren();
    }
  };
}

/** Until the browser has shown what there is; a hidden page shows nothing and does not wait. */
function painted(): Promise<void> {
  return new Promise(resolve => {
    if (document.hidden) setTimeout(resolve);
    else requestAnimationFrame(() => setTimeout(resolve));
  });
}

/** Keys that mean the same wherever the focus is; a panel that has it gets them first. */
function listenToKeys(
  { selection, viewport }: Stage,
  mounted: readonly Mounted[],
  openHelp: () => void
): () => void {
  const listener = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    const command = event.ctrlKey || event.metaKey;
    if (event.key === 'Escape') selection.escape();
    else if (typing || event.altKey) return;
    else if (command && event.key.toLowerCase() === 'z') event.shiftKey ? selection.redo() : selection.undo();
    else if (command) return;
    else if (event.key === '?') openHelp();
    else if (event.key === '0') viewport.fit();
    else if (event.key === '/') searchNear(mounted);
    else return;
    event.preventDefault();
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}

/** Puts the cursor into the search box of the panel that is nearest to the top of the window. */
function searchNear(mounted: readonly Mounted[]): void {
  const searchable = mounted.filter(({ view, surface }) => view.search && !surface.element.hidden);
  const distance = ({ element: { firstElementChild } }: Mounted): number =>
    Math.abs((firstElementChild?.getBoundingClientRect().top ?? 0) - window.innerHeight / 3);
  const [nearest] = [...searchable].sort((a, b) => distance(a) - distance(b));
  nearest?.view.search?.focus();
}
