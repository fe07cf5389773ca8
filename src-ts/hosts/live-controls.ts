import type { Stop } from '../core/recording';
import { choice, clickable, element, setOptions, setPressed, setSign } from '../panels/element';
import { drawn } from '../panels/icons';
import type { LivePage } from './live-page';

const DRAWINGS = {
  follow: 'M2 8h9M7.8 4.8L11 8l-3.2 3.2M13.5 3v10',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3l8 5l-8 5z'
};

/** A control that keeps up with its page until it is disposed of. */
export interface Control {
  readonly element: HTMLElement;
  dispose(): void;
}

/** Pressed while the charts keep up with the run. */
export function followButton(page: LivePage): Control {
  const made = clickable({ class: 'di-icon' }, () => {
    page.follow = !page.follow;
  });
  const update = (): void => {
    setSign(made, page.follow ? 'Following the run' : 'Follow the run', drawn(DRAWINGS.follow));
    setPressed(made, page.follow);
  };
  return kept(made, update, page.onChange(update));
}

/** Holds the panels still, and lets them catch up. */
export function pauseButton(page: LivePage): Control {
  const made = clickable({ class: 'di-icon' }, () => {
    page.paused = !page.paused;
  });
  const update = (): void => {
    const words = page.paused ? 'Resume: show what has come meanwhile' : 'Pause: hold the panels still';
    setSign(made, words, drawn(DRAWINGS[page.paused ? 'play' : 'pause']));
    made.classList.toggle('di-pressed', page.paused);
  };
  return kept(made, update, page.onChange(update));
}

/** What a picker needs to know of a page. */
export type Cells = Pick<LivePage, 'cells' | 'cell' | 'showCell' | 'onChange' | 'selection'>;

/** What stands in the picker for the whole recording. */
const ALL = '';

/** Runs of notebook cells, newest first; choosing one narrows every panel to it. Hidden while there are fewer than `least`. */
export function cellPicker(page: Cells, least = 1): Control {
  const made = choice('Notebook cell to show', [], cell => {
    page.showCell(cell === ALL ? undefined : Number(cell));
  });
  made.classList.add('di-cell-picker');
  made.hidden = true;
  const update = (): void => {
    const all = page.cells();
    const cells = all.filter(({ hasTasks, execution }) => hasTasks || execution === page.cell);
    const offered = cells.map(({ words, execution }) => [String(execution), words] as const);
    setOptions(made, [[ALL, 'All cells'], ...offered]);
    made.hidden = cells.length < least;
    made.value = page.cell === undefined ? ALL : String(page.cell);
  };
  return kept(made, update, page.onChange(update), page.selection.subscribe(update));
}

/** All of them in one line. */
export function liveControls(page: LivePage): Control {
  return controlLine('di-live-controls', [followButton(page), pauseButton(page), cellPicker(page)]);
}

/** Controls of a live view in one line. */
export function controlLine(className: string, controls: readonly Control[]): Control {
  const line = element('div', { class: className, role: 'toolbar', 'aria-label': 'Live view' });
  line.append(...controls.map(control => control.element));
  return {
    element: line,
    dispose: () => {
      for (const control of controls) control.dispose();
      line.remove();
    }
  };
}

/** A control that has `update` called now, and by those who are to be stopped when it is disposed of. */
export function kept(made: HTMLElement, update: () => void, ...stops: readonly Stop[]): Control {
  update();
  return {
    element: made,
    dispose: () => {
      for (const stop of stops) stop();
      made.remove();
    }
  };
}
