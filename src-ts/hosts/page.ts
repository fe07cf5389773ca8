import { commitFirst } from '../draw/surface';
import { button, element, setIdle } from '../panels/element';
import { icon } from '../panels/icons';
import { type Mounted, mount } from '../panels/mount';
import type { Panel, Stage } from '../panels/panel';
import { keepAddress } from './address';
import { drawAhead } from './draw-ahead';
import { CTRL, keysButton, showKeys } from './help';
import { listenToKeys } from './keys';
import { painted } from './painted';
import { keepPrintable } from './printing';
import { themeSwitch } from './theme-switch';

/** Which panels stand where; a panel that is named nowhere comes last. */
const ROWS: readonly (readonly string[])[] = [
  ['findings'],
  ['compare'],
  ['time-budget'],
  ['task-stream'],
  ['critical-path'],
  ['what-if'],
  ['resources'],
  ['memory'],
  ['flame-graph', 'fine-metrics'],
  ['functions'],
  ['progress', 'transfers'],
  ['workers', 'spans'],
  ['events']
];

/** Rows that fill the first window; the others come after the first picture. */
const FIRST_ROWS = 3;

/** The panel that is drawn in the first picture; those around it follow a frame later. */
const FIRST = 'task-stream';

/** All panels of one recording in a page. */
export interface Page {
  /** When the last panel is there. */
  readonly complete: Promise<void>;
  stop(): void;
}

/** Puts all panels into a page, with what the page has once: tools, keys, address. */
export function page(main: HTMLElement, tools: HTMLElement, panels: readonly Panel[], stage: Stage): Page {
  const mounted: Mounted[] = [];
  let first: Mounted | undefined;
  const left = new Set(panels);
  const { clientWidth } = main;
  const put = (row: readonly Panel[]): void => {
    const box = element('div', { class: row.length > 1 && 'di-columns' });
    main.append(box);
    for (const panel of row) {
      const cell = element('div', { class: 'di-cell' });
      box.append(cell);
      try {
        const made = mount(panel, stage, cell, row.length === 1 ? { width: clientWidth } : {});
        mounted.push(made);
        if (panel.id === FIRST) first = made;
      } catch (error) {
        // The others tell what they can.
        cell.replaceChildren(element('p', { class: 'notice' }, `${panel.title} cannot be shown.`));
        reportError(error);
      }
    }
  };
  const rows = ROWS.map(names => names.flatMap(name => panels.filter(panel => panel.id === name)));
  for (const row of rows) for (const panel of row) left.delete(panel);
  const waiting = [...rows, ...[...left].map(panel => [panel])].filter(row => row.length > 0);
  let stopped = false;
  const putRest = async (): Promise<void> => {
    for (const row of waiting) {
      await painted();
      if (stopped) return;
      put(row);
    }
  };

  const { selection } = stage;
  const undo = button(`Undo (${CTRL} + Z)`, () => selection.undo(), icon('undo'));
  const redo = button(`Redo (${CTRL} + Shift + Z)`, () => selection.redo(), icon('redo'));
  const fit = button('Show the whole time (0)', () => stage.viewport.fit(), icon('fit'));
  tools.replaceChildren(undo, redo, fit, themeSwitch(), keysButton(tools));
  const enable = (): void => {
    setIdle(undo, !selection.canUndo);
    setIdle(redo, !selection.canRedo);
    setIdle(fit, stage.viewport.fitted);
  };
  enable();

  // The theme is known by now.
  for (const row of waiting.splice(0, FIRST_ROWS)) put(row);
  const stops = [
    selection.subscribe(enable),
    stage.viewport.subscribe(enable),
    keepAddress(stage),
    listenToKeys(
      document,
      stage,
      () => mounted,
      () => showKeys(tools)
    ),
    keepPrintable(mounted),
    drawAhead(mounted)
  ];
  if (first) commitFirst(first.surface);
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
