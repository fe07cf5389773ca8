import { fromAscii91 } from '../core/ascii91';
import { plural } from '../core/format';
import { inflate, load } from '../core/load';
import { Recording } from '../core/recording';
import { button, element, setIdle, setPressed } from '../panels/element';
import { icon } from '../panels/icons';
import { panelsFor } from '../panels/index';
import { type Mounted, mount } from '../panels/mount';
import type { Panel } from '../panels/panel';
import { createStage } from '../panels/stage';
import { CTRL, keysButton, showKeys } from './help';
import { listenToKeys } from './keys';
import { keepScheme } from './scheme';
import { showRun } from './show-run';
import { unreadColumns } from './unread';

/** The panels that are shown at first, in their order; the others are a click away. */
const FIRST = ['compare', 'findings', 'time-budget', 'task-stream'];

/**
 * The data blocks of a report that a notebook holds as HTML, as text, in their
 * order. The HTML is searched as text; none of it becomes part of a page.
 */
export function dataBlocks(html: string): string[] {
  // What stands before the frame are words; a name in them may look like anything.
  const report = html.slice(Math.max(0, html.indexOf('<iframe ')));
  // A run that ends otherwise is none. It matches all the same: else each place in it would be tried again.
  const found = report.matchAll(
    /class=batches data-part=(?:first|rest) id=[a-z]+-\d+(?:&gt;|>)([^"&'<]+)(&lt;|<)?/g
  );
  return [...found].flatMap(([, block, end]) => (end ? block : []));
}

/**
 * The report of a finished recording in the output of a cell: the most telling
 * panels at once, the others by buttons, all over one selection and one time.
 */
export class SavedReport {
  private readonly unread = note();
  private readonly stage = createStage(new Recording(unreadColumns(words => say(this.unread, words))));
  private readonly mounted = new Map<Panel, Mounted>();
  private readonly actions: HTMLElement;
  private readonly panels = element('div', { class: 'di-saved-panels' });
  private readonly stops: (() => void)[];
  private readonly damage = note();
  private disposed = false;

  constructor(private readonly host: HTMLElement) {
    const { selection, viewport } = this.stage;
    host.classList.add('di-page', 'di-saved');
    const bar = element('div', { class: 'di-saved-bar', role: 'toolbar', 'aria-label': 'Panels' });
    const undo = button(`Undo (${CTRL} + Z)`, () => selection.undo(), icon('undo'));
    const fit = button('Show the whole time (0)', () => viewport.fit(), icon('fit'));
    const enable = (): void => {
      setIdle(undo, !selection.canUndo);
      setIdle(fit, viewport.fitted);
    };
    enable();
    this.actions = element('div', { class: 'di-actions' }, undo, fit, keysButton(host));
    bar.append(this.actions);
    host.append(bar, this.damage, this.unread, this.panels);
    this.stops = [
      selection.subscribe(enable),
      viewport.subscribe(enable),
      keepScheme(host),
      listenToKeys(
        host,
        this.stage,
        () => [...this.mounted.values()],
        () => showKeys(host)
      )
    ];
  }

  /** Reads the data and shows it; says in the page what of it is damaged. */
  async open(blocks: readonly string[]): Promise<void> {
    const { recording } = this.stage;
    let damaged = 0;
    for (const block of blocks) {
      if (this.disposed) return;
      try {
        await load(recording, await inflate(fromAscii91(block)));
      } catch {
        damaged++;
      }
    }
    if (this.disposed) return;
    if (damaged > 0) {
      const parts = `${damaged} of ${plural(blocks.length, 'part')}`;
      say(this.damage, `Damaged and missing here: ${parts} of this report.`);
      recording.cut();
    }
    showRun(this.stage);
    const all = panelsFor(recording);
    const first = FIRST.flatMap(id => all.filter(panel => panel.id === id));
    for (const panel of new Set([...first, ...all])) this.offer(panel, first.includes(panel));
    this.host.dataset.opened = 'true';
  }

  dispose(): void {
    this.disposed = true;
    for (const stop of this.stops) stop();
    for (const each of this.mounted.values()) each.dispose();
    this.mounted.clear();
    this.host.classList.remove('di-page', 'di-saved');
    this.host.replaceChildren();
  }

  /** A place for a panel, and a button that shows it there and takes it away. */
  private offer(panel: Panel, shown: boolean): void {
    const cell = element('div', { class: 'di-saved-cell' });
    this.panels.append(cell);
    const toggle = button(panel.title, () => show(!this.mounted.has(panel)));
    this.actions.before(toggle);
    const show = (on: boolean): void => {
      cell.hidden = !on;
      setPressed(toggle, on);
      this.mounted.get(panel)?.dispose();
      this.mounted.delete(panel);
      if (on) this.mounted.set(panel, mount(panel, this.stage, cell));
    };
    show(shown);
  }
}

/** A line above the panels, hidden until there is something to say. */
function note(): HTMLElement {
  return element('p', { class: 'di-saved-note', role: 'status', hidden: true });
}

function say(line: HTMLElement, words: string): void {
  line.textContent = words;
  line.hidden = false;
}
