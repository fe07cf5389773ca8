import { count, duration, nameOrNone, plural } from '../../core/format';
import { leftOf, type Progress, progressOf, together } from '../../core/progress';
import { threadsNow } from '../../core/threads-now';
import { css, mixed, type Rgb } from '../../draw/palette';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { TextWidth } from '../../draw/text-width';
import type { Theme } from '../../draw/theme';
import { element, setWords } from '../element';
import { activityColor } from '../fine-metrics/colors';
import { Fold } from '../fold';
import { FADED, outline, stepped, worded } from '../marks';
import { noneChosen, noTasks } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, Sign, TableRows } from '../panel';
import { nameColor } from '../task-stream/colors';
import { number, tableOf, text } from '../things';
import { doneWords, leftWords, openWords } from './words';

const SOURCE = 'progress';
const ROW = 20;
/** Bars before a person asks for more. */
const FEW = 16;
/** How strong the colour of what runs is, of that of what is done. */
const RUNNING = 0.45;
/** Id of the line for the other names; those of bars are names. */
const REST = 0;

/** A bar a task name, filled as far as its tasks are. */
export class ProgressView implements PanelView {
  readonly above = element('div', { class: 'di-note' });
  private known = '';
  private all: readonly Progress[] = [];
  /** Those that have a bar. */
  private shown: readonly Progress[] = [];
  private readonly fold = new Fold(FEW);

  constructor(private readonly context: PanelContext) {}

  empty(): string | undefined {
    this.read();
    if (this.all.length > 0) return undefined;
    const { selection, recording } = this.context;
    if (recording.table('graph').rows === 0) return noTasks(recording);
    return selection.clauses.length > 0
      ? noneChosen('No task belongs to')
      : 'The tasks that are known were computed before this was recorded.';
  }

  height(): number {
    return ROW * this.lines + 4;
  }

  layout(): void {
    this.read();
    setWords(this.above, this.words());
  }

  /** How many lines there are, with the one for the other names. */
  private get lines(): number {
    return this.shown.length + Number(this.fold.isLong(this.all.length));
  }

  draw(pen: Pen): void {
    const { theme } = this.context.surface;
    const own = new Set(this.context.selection.own(SOURCE, 'name'));
    const text = writeWith(pen, theme);
    this.shown.forEach((each, at) => {
      this.drawBar(pen, each, own.size > 0 && !own.has(each.name), ROW * at, text, theme);
    });
    if (this.lines === this.shown.length) return;
    pen.fillStyle = theme.accent;
    pen.fillText(this.restWords(), 0, ROW * this.shown.length + ROW / 2);
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    outline(pen, this.mark(this.placeOf(hovered)), this.context.surface.theme.muted);
  }

  pick(_x: number, y: number): Mark | undefined {
    return this.mark(Math.floor(y / ROW));
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    return this.mark(stepped(this.placeOf(from), direction, this.lines));
  }

  /** Where a mark stands now, of the bars and the line for the others; -1 for none. */
  private placeOf(mark: Mark | undefined): number {
    if (mark?.id === REST) return this.shown.length;
    return this.shown.findIndex(({ name }) => name === mark?.id);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    const { selection, surface } = this.context;
    if (!mark) return;
    if (mark.id === REST) {
      this.fold.ask(this.all.length);
      this.known = '';
      surface.invalidate('layout');
      return;
    }
    selection.choose(SOURCE, 'name', [String(mark.id)], additive);
  }

  signs(): readonly Sign[] {
    const { theme } = this.context.surface;
    const failed = this.all.some(each => each.failed > 0);
    return failed ? [{ color: css(activityColor('failed', theme)), label: 'failed' }] : [];
  }

  rows(): TableRows {
    return tableOf(this.all, [
      text('Task name', ({ name }) => name),
      number('Done', ({ done }) => done, count),
      number('Running', ({ running }) => running, count),
      number('Failed', ({ failed }) => failed, count),
      number('Given up', ({ givenUp }) => givenUp, count),
      number(this.isOver ? 'Never ran' : 'Waiting', ({ waiting }) => waiting, count),
      number('Tasks', ({ total }) => total, count),
      number('Mean', ({ mean }) => mean, duration)
    ]);
  }

  /** Nothing can change any more: what waits never ran. */
  private get isOver(): boolean {
    const { recording, selection } = this.context;
    return recording.hasEnded && !selection.filter(SOURCE).time;
  }

  private read(): void {
    const { recording, selection, tasks } = this.context;
    const tables = [
      'graph',
      'attempts',
      'errors',
      'running',
      'submissions',
      'workers',
      'phases',
      'about'
    ] as const;
    const known = `${recording.state(...tables)} ${selection.save()}`;
    if (known === this.known) return;
    this.known = known;
    this.all = progressOf(tasks, selection.filter(SOURCE));
    this.shown = mostOpen(this.all, this.fold.drawn(this.all.length));
  }

  /** All names in a sentence. */
  private words(): string {
    const { recording, selection, tasks, viewport } = this.context;
    const { time } = selection.filter(SOURCE);
    const sum = together(this.all);
    const isLive = !recording.hasEnded && !time;
    const when = time ? `${duration(time.stop - viewport.origin)} after the start: ` : '';
    const left = isLive ? leftWords(this.all, threadsNow(tasks)) : '';
    const said = [doneWords(sum), ...(left ? [left] : []), ...openWords(sum, this.isOver)].join(', ');
    return when + (when ? said : said[0].toUpperCase() + said.slice(1));
  }

  private restWords(): string {
    if (this.fold.isOpen(this.all.length)) return this.foldWords();
    const rest = this.all.length - this.shown.length;
    const sum = together(this.all.filter(each => !this.shown.includes(each)));
    return `${plural(rest, 'more name')}, ${doneWords(sum)}`;
  }

  private foldWords(): string {
    return this.fold.words(this.all.length, 'bar');
  }

  private drawBar(pen: Pen, each: Progress, faded: boolean, y: number, text: TextWidth, theme: Theme): void {
    const { width } = this.context.surface;
    const labels = Math.round(Math.min(200, width * 0.36));
    const amount = `${count(each.done)} of ${count(each.total)}`;
    const room = Math.max(10, width - labels - 120);
    pen.fillStyle = faded ? theme.muted : theme.text;
    pen.fillText(text.fittedEnds(nameOrNone(each.name), labels - 10), 0, y + ROW / 2);
    pen.globalAlpha = faded ? FADED : 1;
    pen.fillStyle = theme.grid;
    pen.fillRect(labels, y + 4, room, ROW - 8);
    const color = this.context.colors.color(each.name, theme);
    let x = labels;
    const parts: readonly (readonly [number, Rgb])[] = [
      [each.done, color],
      [each.running, mixed(theme.background, color, RUNNING)],
      [each.failed, activityColor('failed', theme)]
    ];
    for (const [number, fill] of parts) {
      if (number === 0) continue;
      // What is there at all can be seen, however many others there are.
      const length = Math.max(1, (room * number) / each.total);
      pen.fillStyle = css(fill);
      pen.fillRect(Math.min(x, labels + room - length), y + 4, length, ROW - 8);
      x += length;
    }
    pen.globalAlpha = 1;
    pen.fillStyle = theme.muted;
    pen.fillText(text.fitted(amount, width - labels - room - 8), labels + room + 8, y + ROW / 2);
  }

  private mark(at: number): Mark | undefined {
    const { theme } = this.context.surface;
    const box: Box = { x: 0, y: ROW * at, width: this.context.surface.width, height: ROW };
    if (at === this.shown.length && at < this.lines) {
      return worded(REST, this.foldWords(), box);
    }
    const each = this.shown[at];
    if (!each) return undefined;
    const open = openWords(each, this.isOver);
    const left = leftOf([each]);
    return {
      id: each.name,
      box,
      card: () => ({
        title: nameOrNone(each.name),
        color: nameColor(each.name, this.context.colors, theme),
        groups: [
          [
            { label: 'Done', value: `${count(each.done)} of ${count(each.total)}` },
            ...(open.length > 0 ? [{ label: 'Others', value: open.join(', ') }] : [])
          ],
          [
            ...(Number.isNaN(each.mean) ? [] : [{ label: 'Mean', value: duration(each.mean) }]),
            ...(each.running + each.waiting > 0 && !this.isOver
              ? [
                  {
                    label: 'Left',
                    value: left > 0 ? `${duration(left)} of one thread` : 'unknown, as none is done'
                  }
                ]
              : [])
          ]
        ]
      }),
      words: () => `${nameOrNone(each.name)}: ${[doneWords(each), ...open].join(', ')}`
    };
  }
}

/** As many as have room: of those that are over, the ones that failed most, then those that came last. */
function mostOpen(all: readonly Progress[], most: number): readonly Progress[] {
  const isOpen = ({ running, waiting }: Progress): boolean => running + waiting > 0;
  const over = all.filter(each => !isOpen(each)).reverse();
  over.sort((a, b) => b.failed - a.failed);
  const kept = new Set([...all.filter(isOpen), ...over].slice(0, most));
  return all.filter(each => kept.has(each));
}
