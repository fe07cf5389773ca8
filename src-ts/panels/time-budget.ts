import { duration, plural, share } from '../core/format';
import { timeBudget as budgetOf, PARTS, type Part, type TimeBudget } from '../core/time-budget';
import { css, mixed, type Rgb, reservedColor, slotColor } from '../draw/palette';
import type { Box, Pen } from '../draw/pen';
import { TextWidth } from '../draw/text-width';
import type { Theme } from '../draw/theme';
import type { Direction, Mark, Panel, PanelContext, PanelView, TableRows } from './panel';

/** Where the time of all worker threads went, as one bar. */
export const timeBudget: Panel = {
  id: 'time-budget',
  title: 'Time budget',
  tables: ['attempts', 'executions', 'phases', 'workers', 'graph'],
  overTime: false,
  create: context => new TimeBudgetView(context)
};

const WORDS: Readonly<Record<Part, string>> = {
  computing: 'computing',
  other: 'other tasks',
  failed: 'computing, failed',
  transfer: 'waiting for data',
  disk: 'waiting for disk',
  deserialize: 'deserializing',
  idle: 'idle'
};

const BAR: Pick<Box, 'y' | 'height'> = { y: 2, height: 20 };
const LINE = 20;

interface Segment {
  readonly part: Part;
  readonly seconds: number;
  readonly words: string;
  readonly box: Box;
  /** Where its words stand under the bar. */
  readonly label: { readonly x: number; readonly y: number };
}

class TimeBudgetView implements PanelView {
  private known = '';
  private budget: TimeBudget | undefined;
  private text: TextWidth | undefined;
  private segments: readonly Segment[] = [];

  constructor(private readonly context: PanelContext) {}

  empty(): string | undefined {
    if (this.context.tasks.count === 0) return 'No task has run yet, so there is no time to share out.';
    return undefined;
  }

  height(width: number): number {
    this.read();
    const last = this.placed(width).at(-1);
    return (last ? last.label.y : BAR.y + BAR.height) + LINE / 2 + 4;
  }

  layout(): void {
    this.read();
    this.segments = this.placed(this.context.surface.width);
  }

  draw(pen: Pen): void {
    const { theme } = this.context.surface;
    pen.font = `12px ${theme.font}`;
    pen.textBaseline = 'middle';
    pen.textAlign = 'left';
    for (const { part, box, label, words } of this.segments) {
      pen.fillStyle = css(colorOf(part, theme));
      pen.fillRect(box.x, box.y, Math.max(1, box.width), box.height);
      pen.fillRect(label.x, label.y - 5, 9, 9);
      pen.fillStyle = theme.muted;
      pen.fillText(words, label.x + 14, label.y);
    }
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const found = this.segments.find(({ part }) => part === hovered?.id);
    if (!found) return;
    const { x, y, width, height } = found.box;
    pen.strokeStyle = this.context.surface.theme.text;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 0.75, y + 0.75, Math.max(1, width - 1.5), height - 1.5);
  }

  pick(x: number, y: number): Mark | undefined {
    const found = this.segments.find(
      ({ box, label, words }) =>
        (y < BAR.y + BAR.height + 4 && x >= box.x - 1 && x <= box.x + Math.max(2, box.width)) ||
        (Math.abs(y - label.y) < LINE / 2 && x >= label.x && x < label.x + this.widthOf(words))
    );
    return found && this.mark(found);
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const at = this.segments.findIndex(({ part }) => part === from?.id);
    const last = this.segments.length - 1;
    const forward = direction === 'right' || direction === 'down';
    const next = direction === 'first' || !from ? 0 : direction === 'last' ? last : at + (forward ? 1 : -1);
    const found = this.segments[next];
    return found && this.mark(found);
  }

  rows(): TableRows {
    const { budget, segments } = this;
    const offered = budget?.offered ?? 0;
    return {
      columns: [
        { title: 'Thread time', numeric: false },
        { title: 'Seconds', numeric: true },
        { title: 'Share', numeric: true }
      ],
      length: segments.length,
      row: row => {
        const { part, seconds } = segments[row];
        return [WORDS[part], duration(seconds), share(seconds / offered)];
      },
      value: (row, column) => {
        const { part, seconds } = segments[row];
        return [WORDS[part], seconds, seconds / offered][column];
      }
    };
  }

  private read(): void {
    const { tasks, selection, recording } = this.context;
    const known = [tasks.version, recording.state('phases'), selection.save()].join();
    if (known === this.known) return;
    this.known = known;
    this.budget = budgetOf(tasks, selection.filter('time-budget'));
  }

  private placed(width: number): Segment[] {
    const { budget } = this;
    if (!budget || budget.offered <= 0) return [];
    const segments: Segment[] = [];
    let sum = 0;
    let x = 0;
    let y = BAR.y + BAR.height + LINE / 2 + 2;
    for (const part of PARTS) {
      const seconds = budget.parts[part];
      if (seconds <= 0) continue;
      const words = `${WORDS[part]} ${share(seconds / budget.offered)}`;
      const room = this.widthOf(words);
      if (x > 0 && x + room > width) {
        x = 0;
        y += LINE;
      }
      const left = (sum / budget.offered) * width;
      sum += seconds;
      const right = (sum / budget.offered) * width;
      segments.push({ part, seconds, words, box: { x: left, width: right - left, ...BAR }, label: { x, y } });
      x += room + 18;
    }
    return segments;
  }

  /** Width of a label with its colour. */
  private widthOf(words: string): number {
    const font = `12px ${this.context.surface.theme.font}`;
    if (this.text?.font !== font) this.text = new TextWidth(font);
    return this.text.of(words) + 16;
  }

  private mark({ part, seconds, box }: Segment): Mark {
    const budget = this.budget as TimeBudget;
    const line = `${duration(seconds)} (${share(seconds / budget.offered)})`;
    return {
      id: part,
      box,
      card: () => ({
        title: WORDS[part],
        color: css(colorOf(part, this.context.surface.theme)),
        groups: [
          [{ label: 'thread time', value: line }],
          [
            {
              label: 'of',
              value: `${duration(budget.offered)} on ${plural(budget.threads, 'thread')}`,
              tone: 'muted' as const
            }
          ]
        ]
      }),
      words: () => `${WORDS[part]}: ${line}`
    };
  }
}

function colorOf(part: Part, theme: Theme): Rgb {
  const blue = slotColor(19, theme.dark, theme.contrast);
  switch (part) {
    case 'computing':
      return blue;
    case 'other':
      return mixed(theme.background, blue, 0.4);
    case 'failed':
      return theme.dark ? [235, 235, 235] : [20, 20, 20];
    case 'transfer':
    case 'disk':
    case 'deserialize':
      return reservedColor(part, theme.dark);
    case 'idle':
      return mixed(theme.background, theme.dark ? [255, 255, 255] : [0, 0, 0], theme.dark ? 0.03 : 0.2);
  }
}
