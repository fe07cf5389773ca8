import { amountsOf } from '../../core/fine-metrics';
import { type Carried, type Flow, type Flows, flowsOf } from '../../core/flows';
import { bytes, count, duration, nameOrNone, plural, shortened } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import { css } from '../../draw/palette';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { CardLine } from '../../draw/tooltip';
import { choice, element, setWords } from '../element';
import { heatColor } from '../heat';
import { FADED, outline, stepped } from '../marks';
import { noneChosen } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, TableRows } from '../panel';
import { nameColor } from '../task-stream/colors';
import { number, tableOf, text } from '../things';
import { drawLabels, fittedLabel, workerLabel } from '../worker-label';
import { MEASURES, type Measure, rateWords, type Sums } from './measures';
import { type Square, squareOf } from './square';

const SOURCE = 'transfers';
const ROW = 20;
/** Sides of a cell, CSS pixels: where there are few, where there are more, and least. */
const [LARGE, USUAL, SMALL] = [44, 26, 3];
const FEW = 4;
/** Most and least width of the square, its names aside; and of the bars, below which they stand under it. */
const [WIDEST, NARROWEST, BARS] = [360, 60, 260];
/** What Dask's metrics call the sending of a shuffle's shards. */
const SENT = 'background-comms process';
/** Bars of task names at most. */
const MOST = 12;
/** Pieces of the scale of colours, the width of one, and of all. */
const [PIECES, PIECE, SCALE] = [40, 3, 120];

type Ends = readonly [from: readonly string[], to: readonly string[]];
/** What a mark is about, which its id tells: a name, or workers. Places change as a run goes on. */
type About = string | Ends;
const idOf = (about: About): string => JSON.stringify(about);

/** Where everything stands, CSS pixels. */
interface Place {
  readonly labels: number;
  readonly cell: number;
  readonly top: number;
  /** Under the cells. */
  readonly bottom: number;
  readonly bars: { readonly x: number; readonly y: number; readonly width: number };
  readonly height: number;
}

/** Who sent to whom, and what. */
export class TransfersView implements PanelView {
  readonly controls: readonly HTMLElement[];
  readonly above = element('div', { class: 'di-note' });
  private readonly choice: HTMLSelectElement;
  private known = '';
  private measured = '';
  private flows: Flows = { pairs: [], carried: [] };
  /** Bytes that shuffles sent on their own ways. */
  private shuffled = 0;
  private square: Square = { senders: [], receivers: [], cells: [] };

  constructor(private readonly context: PanelContext) {
    this.choice = choice(
      'Coloured by',
      MEASURES.map(({ id, label }) => [id, label]),
      () => context.surface.invalidate('layout')
    );
    this.controls = [this.choice];
  }

  empty(): string | undefined {
    this.read();
    if (this.flows.pairs.length > 0) return undefined;
    const { recording, tasks } = this.context;
    if (recording.table('transfers').rows > 0) return noneChosen('Nothing was sent in');
    const none = 'No worker has sent a result to another one.';
    return tasks.lanes.some(({ worker }) => worker.includes('://'))
      ? none
      : `${none} Threads of a local scheduler share their memory; what its processes send, Dask does not tell.`;
  }

  height(width: number): number {
    return this.place(width).height;
  }

  layout(): void {
    this.read();
    setWords(this.above, this.words());
  }

  draw(pen: Pen): void {
    const { theme, width } = this.context.surface;
    const place = this.place(width);
    this.drawSquare(pen, place, theme);
    this.drawScale(pen, place, theme);
    this.drawBars(pen, place, theme);
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const now = hovered && this.markOf(JSON.parse(String(hovered.id)) as About);
    outline(pen, now, this.context.surface.theme.text);
  }

  /** Where it stands now; of workers that have come to share a line, that line. */
  private markOf(about: About): Mark | undefined {
    if (typeof about === 'string') return this.barMark(this.bars.findIndex(({ name }) => name === about));
    const { senders, receivers } = this.square;
    const [from, to] = [senders, receivers].map((ends, side) =>
      ends.findIndex(({ workers }) => workers[0] === about[side][0])
    );
    const at = to < 0 ? -1 : from * receivers.length + to;
    return this.pairMark(at);
  }

  pick(x: number, y: number): Mark | undefined {
    const { cell, labels, top, bars } = this.place(this.context.surface.width);
    const { senders, receivers } = this.square;
    const [from, to] = [Math.floor((y - top) / cell), Math.floor((x - labels) / cell)];
    if (from >= 0 && to >= 0 && from < senders.length && to < receivers.length) {
      return this.pairMark(from * receivers.length + to);
    }
    const bar = Math.floor((y - bars.y) / ROW);
    return x >= bars.x && x < bars.x + bars.width ? this.barMark(bar) : undefined;
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const cells = [...this.square.cells.keys()].filter(at => this.square.cells[at]);
    const ids = [...cells.map(at => this.endsOf(at)), ...this.bars.map(({ name }) => name)].map(idOf);
    const next = stepped(from ? ids.indexOf(String(from.id)) : -1, direction, ids.length);
    return next < cells.length ? this.pairMark(cells[next]) : this.barMark(next - cells.length);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    if (!mark) return;
    const { selection } = this.context;
    const about = JSON.parse(String(mark.id)) as About;
    if (typeof about === 'string') selection.choose(SOURCE, 'name', [about], additive);
    else selection.choose(SOURCE, 'worker', [...new Set(about.flat())], additive);
  }

  rows(): TableRows {
    const { tasks } = this.context;
    return tableOf(this.flows.pairs, [
      text('From', ({ from }) => (from ? workerLabel(tasks, from) : 'unknown')),
      text('To', ({ to }) => (to ? workerLabel(tasks, to) : 'clients')),
      number('Transfers', ({ transfers }) => transfers, count),
      number('Bytes', ({ nbytes }) => nbytes, bytes),
      number('Time', ({ seconds }) => seconds, duration),
      number('Rate', ({ nbytes, seconds }) => nbytes / seconds, rateWords, 'B/s')
    ]);
  }

  private get measure(): Measure {
    return MEASURES.find(({ id }) => id === this.choice.value) ?? MEASURES[0];
  }

  private get bars(): readonly Carried[] {
    return this.flows.carried.slice(0, MOST);
  }

  private read(): void {
    const { recording, selection, tasks } = this.context;
    const saved = selection.save();
    const known = `${recording.state('transfers', 'transferred', 'workers', 'graph')} ${saved}`;
    if (known !== this.known) {
      this.known = known;
      this.flows = flowsOf(tasks, selection.filter(SOURCE));
      this.square = squareOf(this.flows.pairs, tasks, Math.floor(WIDEST / SMALL));
    }
    const measured = `${recording.state('metrics')} ${saved}`;
    if (measured === this.measured) return;
    this.measured = measured;
    const sent = amountsOf(recording, 'bytes', selection.filter(SOURCE)).filter(
      ({ context, activity }) => context === 'p2p' && activity === SENT
    );
    this.shuffled = sumOf(sent, ({ value }) => value);
  }

  /** All of it in words. */
  private words(): string {
    const { pairs } = this.flows;
    const sum = (some: readonly Flow[]): Sums => ({
      transfers: sumOf(some, each => each.transfers),
      nbytes: sumOf(some, each => each.nbytes),
      seconds: sumOf(some, each => each.seconds)
    });
    const between = sum(pairs.filter(({ to }) => to));
    const outside = sum(pairs.filter(({ to }) => !to));
    const said = [];
    if (between.transfers > 0) {
      const rate = rateWords(between.nbytes / between.seconds);
      said.push(
        `${bytes(between.nbytes)} in ${plural(between.transfers, 'transfer')} between workers, ${rate} each`
      );
    }
    if (outside.transfers > 0) said.push(`${bytes(outside.nbytes)} to clients`);
    const besides = `P2P shuffles sent ${bytes(this.shuffled)} besides; nobody tells from whom to whom.`;
    return [said.join('; '), ...(this.shuffled > 0 ? [besides] : [])].join(' · ');
  }

  private place(width: number): Place {
    const { senders, receivers } = this.square;
    const labels = Math.round(Math.min(120, width * 0.28));
    const room = Math.max(NARROWEST, Math.min(WIDEST, width - labels - 2));
    const large = receivers.length <= FEW ? LARGE : USUAL;
    const cell = Math.max(1, Math.min(large, Math.floor(room / Math.max(1, receivers.length))));
    const top = ROW;
    const bottom = top + cell * senders.length;
    const under = bottom + 8 + ROW;
    const right = labels + cell * receivers.length + 32;
    const beside = Math.max(right, labels + SCALE + 80);
    const isBeside = width - beside >= BARS;
    const x = isBeside ? beside : 0;
    const y = isBeside ? top : under + 10 + ROW;
    const end = this.bars.length > 0 ? y + ROW * this.bars.length : 0;
    const height = Math.max(under, end) + 4;
    return { labels, cell, top, bottom, bars: { x, y, width: width - x }, height };
  }

  private drawSquare(pen: Pen, { labels, cell, top, bottom }: Place, theme: Theme): void {
    const { senders, receivers, cells } = this.square;
    const text = writeWith(pen, theme);
    const most = this.most();
    const own = new Set(this.context.selection.own(SOURCE, 'worker'));
    pen.fillStyle = theme.muted;
    pen.fillText('from ↓  to →', 0, top - ROW / 2);
    drawLabels(pen, senders.length, at => senders[at].label, labels - 10, top, cell);
    receivers.forEach(({ label }, at) => {
      if (cell < 14) return;
      const name = fittedLabel(label, cell - 2, text);
      pen.fillText(name, labels + (at + 0.5) * cell - text.of(name) / 2, top - ROW / 2);
    });
    cells.forEach((each, at) => {
      if (!each) return;
      const chosen =
        own.size === 0 ||
        this.endsOf(at)
          .flat()
          .every(worker => own.has(worker));
      pen.globalAlpha = chosen ? 1 : FADED;
      pen.fillStyle = css(heatColor(theme, Math.min(1, this.measure.of(each) / most) || 0));
      const [from, to] = [Math.floor(at / receivers.length), at % receivers.length];
      const gap = cell > 6 ? 1 : 0;
      pen.fillRect(labels + to * cell, top + from * cell, cell - gap, cell - gap);
    });
    pen.globalAlpha = 1;
    pen.strokeStyle = theme.grid;
    pen.lineWidth = 1;
    pen.strokeRect(labels - 0.5, top - 0.5, cell * receivers.length, bottom - top);
  }

  private drawScale(pen: Pen, { labels, bottom }: Place, theme: Theme): void {
    const y = bottom + 8;
    const text = writeWith(pen, theme);
    for (let piece = 0; piece < PIECES; piece++) {
      pen.fillStyle = css(heatColor(theme, piece / (PIECES - 1)));
      pen.fillRect(labels + piece * PIECE, y + 5, PIECE, 8);
    }
    pen.fillStyle = theme.muted;
    pen.fillText('0', labels - 6 - text.of('0'), y + 9);
    pen.fillText(this.measure.words(this.most()), labels + SCALE + 6, y + 9);
  }

  private drawBars(pen: Pen, { bars: { x, y, width } }: Place, theme: Theme): void {
    const { bars } = this;
    if (bars.length === 0) return;
    const text = writeWith(pen, theme);
    const own = new Set(this.context.selection.own(SOURCE, 'name'));
    const labels = Math.round(Math.min(180, width * 0.4));
    const values = 76;
    const room = Math.max(10, width - labels - values);
    pen.fillStyle = theme.muted;
    const more = this.flows.carried.length - bars.length;
    const title =
      more > 0
        ? `What was sent, the ${bars.length} largest of ${plural(bars.length + more, 'name')}`
        : 'What was sent';
    pen.fillText(text.fitted(title, width), x, y - ROW / 2);
    bars.forEach((bar, at) => {
      const middle = y + (at + 0.5) * ROW;
      const faded = own.size > 0 && !own.has(bar.name);
      pen.fillStyle = faded ? theme.muted : theme.text;
      pen.fillText(text.fittedEnds(nameOrNone(bar.name), labels - 10), x, middle);
      pen.globalAlpha = faded ? FADED : 1;
      const length = Math.max(1, (room * bar.nbytes) / (bars[0].nbytes || 1));
      pen.fillStyle = this.colorOf(bar.name);
      pen.fillRect(x + labels, middle - ROW / 2 + 4, length, ROW - 8);
      pen.globalAlpha = 1;
      pen.fillStyle = theme.muted;
      pen.fillText(bytes(bar.nbytes), x + labels + length + 6, middle);
    });
  }

  /** The largest of what cells are coloured by. */
  private most(): number {
    const found = this.square.cells.map(each => (each ? this.measure.of(each) : 0)).filter(Number.isFinite);
    return found.reduce((most, each) => Math.max(most, each), 0) || 1;
  }

  /** Workers that sent, and workers that received. */
  private endsOf(cell: number): Ends {
    const { senders, receivers } = this.square;
    return [senders[Math.floor(cell / receivers.length)].workers, receivers[cell % receivers.length].workers];
  }

  private colorOf(name: string): string {
    return nameColor(name, this.context.colors, this.context.surface.theme);
  }

  private pairMark(at: number): Mark | undefined {
    const { senders, receivers, cells } = this.square;
    const sums = cells[at];
    if (!sums) return undefined;
    const [from, to] = [Math.floor(at / receivers.length), at % receivers.length];
    const { transfers, nbytes, seconds } = sums;
    const { labels, cell, top } = this.place(this.context.surface.width);
    const title = `${senders[from].label} → ${receivers[to].label}`;
    const box: Box = { x: labels + to * cell, y: top + from * cell, width: cell, height: cell };
    return {
      id: idOf(this.endsOf(at)),
      box,
      card: () => ({
        title,
        groups: [
          [
            { label: 'Bytes', value: bytes(nbytes) },
            { label: 'Transfers', value: `${count(transfers)}, ${bytes(nbytes / transfers)} each` },
            { label: 'Time', value: duration(seconds) },
            { label: 'Rate', value: rateWords(nbytes / seconds) }
          ]
        ]
      }),
      words: () => `${title}: ${bytes(nbytes)} in ${plural(transfers, 'transfer')}`
    };
  }

  private barMark(at: number): Mark | undefined {
    const { bars } = this.place(this.context.surface.width);
    const bar = this.bars[at];
    if (!bar) return undefined;
    const { name, types, results, nbytes, seconds } = bar;
    const title = nameOrNone(name);
    const kinds = types.slice(0, 3).map(type => shortened(type, 40));
    const lines: CardLine[] = [
      { label: 'Bytes', value: bytes(nbytes) },
      { label: 'Results', value: `${count(results)}, ${bytes(nbytes / results)} each` },
      { label: 'Time', value: duration(seconds) },
      { label: 'Rate', value: rateWords(nbytes / seconds) }
    ];
    if (kinds.length > 0) lines.push({ label: types.length > 1 ? 'Types' : 'Type', value: kinds.join(', ') });
    return {
      id: idOf(name),
      box: { x: bars.x, y: bars.y + at * ROW, width: bars.width, height: ROW },
      card: () => ({ title, color: this.colorOf(name), groups: [lines] }),
      words: () => `${title}: ${bytes(nbytes)} in ${plural(results, 'result')}`
    };
  }
}
