import { COMPARED, type Comparison, comparisonOf } from '../../core/comparison';
import type { GestureHandlers } from '../../draw/gestures';
import { css } from '../../draw/palette';
import type { Pen } from '../../draw/pen';
import { button, choice, element, setOptions } from '../element';
import { inline } from '../findings/prose';
import { icon } from '../icons';
import type { Direction, Mark, PanelContext, PanelView, Sign } from '../panel';
import { Table, type TableOptions } from '../table';
import { nameColor } from '../task-stream/colors';
import { colorOfPart, sideBars } from './bars';
import { changeColor, STEPS } from './colors';
import { FlameChange } from './flame-change';
import { MEMORY_HEIGHT, MemoryLines } from './memory-lines';
import { budgetTable, type Chooser, findingTable, nameTable, type Pair, settingTable } from './tables';
import { sideName } from './words';

/** Runs side by side: words, bars and tables around a drawing of memory and stacks. */
export class CompareView implements PanelView {
  private readonly verdicts = element('div');
  private readonly names = element('div');
  private readonly beside = element('div', { class: 'di-compare-beside' });
  readonly above = element('div', { class: 'di-compare' }, this.verdicts, this.names, this.beside);
  readonly below = element('div', { class: 'di-compare' });
  readonly controls: readonly HTMLElement[];
  readonly gestures: GestureHandlers;
  private readonly others: HTMLSelectElement;
  private readonly widths: HTMLSelectElement;
  private readonly whole: HTMLButtonElement;
  private readonly flame: FlameChange;
  private readonly memory = new MemoryLines();
  private readonly tables = new Map<string, Table>();
  private comparison: Comparison | undefined;
  private read = '';
  private told = '';
  private other = 1;
  private wide: 'before' | 'after' = 'after';

  constructor(private readonly context: PanelContext) {
    const { surface } = context;
    const renew = (): void => {
      this.told = '';
      surface.invalidate('layout');
    };
    this.flame = new FlameChange(() => surface.invalidate('base'));
    this.widths = choice<'before' | 'after'>(
      'Width of the flame graph',
      [
        ['after', 'Width: after'],
        ['before', 'Width: before']
      ],
      wide => {
        this.wide = wide;
        renew();
      }
    );
    this.others = choice('Compare with the baseline', [], side => {
      this.other = Number(side);
      renew();
    });
    this.whole = button('Show all frames (0)', () => this.flame.zoom.fit(), icon('fit'));
    this.controls = [this.others, this.widths, this.whole];
    const { zoom } = this.flame;
    const width = (): number => Math.max(1, surface.width);
    this.gestures = {
      click: (x, y) => this.choose(this.pick(x, y)),
      zoom: (x, y, factor) => this.flame.holds(y) && zoom.zoom(x / width(), factor),
      pan: dx => zoom.pan(-dx / width()),
      doubleClick: () => zoom.fit(),
      key: event => this.flame.zoom.key(event.key)
    };
  }

  empty(): string | undefined {
    if (this.context.recording.table('compared_sides').rows > 0) return undefined;
    return 'Nothing is compared here. `dask_insight.compare(before, after)` compares recordings, `%%dprofile --compare NAME` a cell with an earlier run.';
  }

  height(): number {
    this.take();
    // With neither of the two it has a height all the same.
    return this.memoryHeight + (this.flame.tree ? this.flame.height : 0) || 1;
  }

  layout(): void {
    this.take();
    const { comparison } = this;
    if (!comparison) return;
    const { width } = this.context.surface;
    if (this.memoryHeight > 0) this.memory.layout(comparison, width);
    this.flame.layout(width, this.memoryHeight);
    this.tell(comparison);
  }

  draw(pen: Pen): void {
    const { theme, ratio } = this.context.surface;
    if (this.memoryHeight > 0) this.memory.draw(pen, theme);
    this.flame.draw(pen, theme, ratio);
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    if (!hovered) return;
    const { theme } = this.context.surface;
    if (String(hovered.id).startsWith('memory')) this.memory.drawOverlay(pen, hovered, theme);
    else this.flame.drawOverlay(pen, hovered, theme);
  }

  pick(x: number, y: number): Mark | undefined {
    return this.flame.pick(x, y, this.context.surface.theme) ?? this.memory.pick(x, y);
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    return this.flame.move(from, direction, this.context.surface.theme);
  }

  choose(mark: Mark | undefined): void {
    if (mark) this.flame.choose(mark);
  }

  signs(): Sign[] {
    const { theme } = this.context.surface;
    const pair = this.pair();
    if (!pair || !this.flame.tree) return [];
    return [
      { color: css(changeColor(STEPS, theme)), label: `more in ${sideName(pair.after)}` },
      { color: css(changeColor(-STEPS, theme)), label: `less in ${sideName(pair.after)}` }
    ];
  }

  private get memoryHeight(): number {
    return this.comparison?.memory.length ? MEMORY_HEIGHT : 0;
  }

  /** Reads the tables when they have changed, and brings the choices up to date. */
  private take(): void {
    const { recording } = this.context;
    const read = [recording.state(...COMPARED), this.other, this.wide].join('|');
    if (read === this.read) return;
    this.read = read;
    this.told = '';
    this.comparison = comparisonOf(recording);
    const pair = this.pair();
    const { sides = [], stacks } = pair?.comparison ?? {};
    this.others.hidden = sides.length <= 2;
    for (const each of [this.widths, this.whole]) each.hidden = stacks === undefined;
    if (!pair) return;
    setOptions(
      this.others,
      sides
        .slice(1)
        .map(side => [String(side.side), `${sideName(side)} against ${sideName(pair.before)}`] as const)
    );
    this.others.value = String(pair.after.side);
    const names = [sideName(pair.before), sideName(pair.after)] as const;
    for (const option of this.widths.options)
      option.textContent = `Width: ${names[option.value === 'after' ? 1 : 0]}`;
    const [before, after] = [pair.before.side, pair.after.side];
    const width = this.wide === 'after' ? after : before;
    this.flame.take(stacks, { before, after, width, names, noisy: pair.after.verdict === 'same' });
  }

  private pair(): Pair | undefined {
    const { comparison } = this;
    if (!comparison || comparison.sides.length < 2) return undefined;
    const after = comparison.sides.find(({ side }) => side === this.other) ?? comparison.sides[1];
    return { comparison, before: comparison.sides[0], after };
  }

  /** What stands around the drawing. */
  private tell(comparison: Comparison): void {
    const { colors, surface, selection, tasks } = this.context;
    const { theme } = surface;
    const told = [
      this.read,
      surface.look,
      tasks.count > 0,
      JSON.stringify(selection.own('compare', 'name'))
    ].join('|');
    if (told === this.told) return;
    this.told = told;
    const pair = this.pair();
    const verdicts = comparison.sides
      .filter(({ text }) => text !== '')
      .map(({ text, verdict }) =>
        element('p', { class: `di-compare-verdict di-${verdict}` }, ...inline(text))
      );
    this.verdicts.replaceChildren(...verdicts, sideBars(comparison, colors, theme));
    this.show(
      this.names,
      'names',
      pair && nameTable(pair, name => nameColor(name, colors, theme), this.chooser())
    );
    this.show(this.beside, 'budget', pair && budgetTable(pair, part => colorOfPart(part, colors, theme)));
    this.show(this.beside, 'findings', pair && findingTable(pair));
    this.show(this.below, 'settings', pair && settingTable(pair));
  }

  /** Names are chosen where a run of its own stands beside the comparison. */
  private chooser(): Chooser | undefined {
    const { selection, tasks } = this.context;
    if (tasks.count === 0) return undefined;
    const isChosen = (names: readonly string[]): boolean =>
      names.length > 0 && selection.own('compare', 'name')?.join('\n') === names.join('\n');
    return {
      choose: names => selection.choose('compare', 'name', names, false),
      isChosen
    };
  }

  /** What is in the page stays there: focus and scroll would go with it. */
  private show(box: HTMLElement, id: string, options: TableOptions | undefined): void {
    const table = this.tables.get(id);
    if (!options) {
      table?.element.remove();
      this.tables.delete(id);
    } else if (table) {
      table.renew(options);
    } else {
      const made = new Table(options);
      this.tables.set(id, made);
      box.append(made.element);
    }
  }
}
