import { bytes, clock, count, duration, plural } from '../../core/format';
import { binnedHeld, Held } from '../../core/held';
import { type Clause, chosenFlags } from '../../core/selection';
import { sumOf } from '../../core/sum-of';
import { timeOf } from '../../core/task-filter';
import type { Box, Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { CardLine } from '../../draw/tooltip';
import type { Scale } from '../../draw/viewport';
import { LayerChart, type Layered, type Part } from '../layer-chart';
import { COARSE, peakOf, stacked } from '../layers';
import type { Mark, PanelContext, Sign, TableRows } from '../panel';
import { nameColor } from '../task-stream/colors';
import { number, tableOf, text } from '../things';
import { drawSwatches } from './swatches';

/** Names that have a layer of their own. */
const LAYERS = 8;
const NONE = 255;
const NAMED_IN_CARD = 12;

/** Results of a task name, an index into `Tasks.names`, and their size in bytes. */
interface OfName {
  readonly name: number;
  size: number;
  results: number;
}

/** What of the results in memory, or on disk, is of which task name. */
export class ByName implements Layered {
  readonly axis = {
    title: 'Results held',
    unit: 'bytes',
    label: 'results',
    none: 'all results',
    said: bytes
  };
  private readonly held: Held;
  private readonly chart: LayerChart;
  private known:
    | { readonly clauses: readonly Clause[]; readonly state: string; readonly end: number }
    | undefined;
  /** By result: index into `Tasks.names`, and its layer. */
  private names: Uint16Array = new Uint16Array(0);
  private layerOf: Uint8Array = new Uint8Array(0);
  /** Names from the bottom; what is in none of them is the last layer. */
  private layers: readonly number[] = [];
  private others = false;
  /** A little over the most that was held at once, bytes. */
  most = 1;

  constructor(private readonly context: PanelContext) {
    this.held = new Held(context.tasks);
    this.chart = new LayerChart(context, this);
  }

  /** Whether there is anything to show. */
  get some(): boolean {
    this.read();
    return this.held.length > 0;
  }

  /** In words, what is to be known of it. */
  get note(): string {
    if (this.held.lack) return this.held.lack;
    const copies = 'Each result counts once, in memory or on disk, however many workers had a copy.';
    return this.held.guessed
      ? `${copies} When results were let go of was not recorded: they are taken to be held until the last task that needs them has ended.`
      : copies;
  }

  get parts(): readonly Part[] {
    return this.signs(this.context.surface.theme).map(({ label, color }) => ({ words: label, color }));
  }

  /** Bytes of each layer over time, in bins. */
  overTime(from: number, to: number, bins: number): Float64Array[] {
    const layers = this.layers.length + Number(this.others);
    const made = binnedHeld(this.held, this.layerOf, layers, from, to, bins);
    // What is held still is not yet held in time to come.
    const past = Math.ceil((bins * (this.context.recording.end - from)) / (to - from));
    for (const layer of made) layer.fill(0, Math.max(0, past));
    this.most = Math.max(this.most, peakOf(stacked(made)) * 1.04);
    return made;
  }

  draw(pen: Pen, box: Box, theme: Theme): void {
    this.chart.draw(pen, box);
    drawSwatches(pen, box, this.signs(theme), theme);
  }

  pick(x: number, y: number, box: Box, scale: Scale): Mark | undefined {
    const layer = this.chart.pick(x, y, box);
    if (!layer) return undefined;
    const time = scale.time(x - box.x);
    const { tasks, recording } = this.context;
    if (time > recording.end) return undefined;
    const under = tasks.names[this.layers[layer.part]] ?? '';
    const when = `${duration(time - recording.origin)} (${clock(time)})`;
    const told = (): { sum: string; lines: CardLine[] } => {
      const names = this.between(time, time);
      return {
        sum: `${bytes(sumOf(names, ({ size }) => size))} of results`,
        lines: names.map(({ name, size, results }) => ({
          label: tasks.names[name],
          value: `${bytes(size)}, ${plural(results, 'result')}`
        }))
      };
    };
    return {
      id: `${under}\n${Math.round(x)}`,
      box: layer.box,
      card: () => {
        const { sum, lines } = told();
        const at = { label: 'at', value: when, tone: 'muted' as const };
        return { title: sum, groups: [lines.slice(0, NAMED_IN_CARD), [at]] };
      },
      words: () => {
        const { sum, lines } = told();
        const most = lines[0] ? `, most of ${lines[0].label}: ${lines[0].value}` : '';
        return `${sum} at ${when}${most}`;
      }
    };
  }

  /** The task name that a mark stands on; '' for none. */
  nameOf(mark: Mark): string {
    return String(mark.id).split('\n')[0];
  }

  rows(): TableRows {
    this.read();
    const { recording, selection, tasks } = this.context;
    const { start, stop } = timeOf(recording, selection.filter()) ?? {
      start: recording.origin,
      stop: recording.end
    };
    const sums = this.between(start, stop);
    const most = this.mostAtOnce(start, stop);
    return tableOf(
      sums.sort((a, b) => most[b.name] - most[a.name]),
      [
        text('Name', ({ name }) => tasks.names[name]),
        number('Most at once', ({ name }) => most[name], bytes),
        number('Results', ({ results }) => results, count),
        number('Mean size', ({ size, results }) => size / results, bytes)
      ]
    );
  }

  /** Bytes by name; of results of which one goes as another comes, they are never held together. */
  private mostAtOnce(start: number, stop: number): Float64Array {
    const { begin, end, bytes, length } = this.held;
    const there = Uint32Array.from({ length }, (_, at) => at).filter(at => this.isHeld(at, start, stop));
    const gone = there.slice().sort((a, b) => end[a] - end[b]);
    const [now, most] = [0, 0].map(() => new Float64Array(this.context.tasks.names.length));
    let next = 0;
    for (const at of there.sort((a, b) => begin[a] - begin[b])) {
      for (; end[gone[next]] <= begin[at]; next++) now[this.names[gone[next]]] -= bytes[gone[next]];
      const name = this.names[at];
      now[name] += bytes[at];
      most[name] = Math.max(most[name], now[name]);
    }
    return most;
  }

  /** Reads what is new, and what the selection leaves of it. */
  read(): void {
    const { selection, tasks, recording } = this.context;
    const changed = this.held.update();
    const filter = selection.filter('memory');
    const { clauses } = selection;
    const state = recording.state('graph', 'submissions');
    const { end } = recording;
    const { held, known } = this;
    const isSame = !changed && known?.clauses === clauses && known.state === state;
    if (isSame && known.end === end) return;
    this.known = { clauses, state, end };
    this.chart.renew(this.known);
    if (isSame) return;
    this.names = held.names();
    const passes = held.passing(filter);
    const named = chosenFlags(tasks.names, filter.names);
    const weight = new Map<number, number>();
    const included = Uint8Array.from(this.names, (name, at) => {
      if (named[name] === 0 || !passes(at)) return 0;
      const took = Math.min(held.end[at], recording.end) - held.begin[at];
      weight.set(name, (weight.get(name) ?? 0) + held.bytes[at] * Math.max(took, 1e-6));
      return 1;
    });
    const ranked = [...weight].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    this.others = ranked.length > LAYERS;
    this.layers = ranked.slice(0, LAYERS);
    const layer = new Uint8Array(tasks.names.length).fill(LAYERS);
    this.layers.forEach((name, at) => {
      layer[name] = at;
    });
    this.layerOf = included.map((is, at) => (is ? layer[this.names[at]] : NONE));
    this.most = 0;
    this.overTime(recording.origin, recording.end, COARSE);
  }

  /** What was held at some time between two moments by name, most first. */
  private between(start: number, stop: number): OfName[] {
    const sums: OfName[] = [];
    for (let at = 0; at < this.held.length; at++) {
      if (!this.isHeld(at, start, stop)) continue;
      const name = this.names[at];
      sums[name] ??= { name, size: 0, results: 0 };
      sums[name].size += this.held.bytes[at];
      sums[name].results++;
    }
    return Object.values(sums).sort((a, b) => b.size - a.size);
  }

  /** Whether a result is one of those chosen, and was held at some time between two moments. */
  private isHeld(result: number, start: number, stop: number): boolean {
    const { begin, end } = this.held;
    return this.layerOf[result] !== NONE && begin[result] <= stop && end[result] > start;
  }

  private colorOf(layer: number, theme: Theme): string {
    const { colors, tasks } = this.context;
    return layer < this.layers.length
      ? nameColor(tasks.names[this.layers[layer]], colors, theme)
      : theme.faint;
  }

  signs(theme: Theme): Sign[] {
    const { names } = this.context.tasks;
    const labels = this.layers.map(name => names[name]);
    return (this.others ? [...labels, 'other names'] : labels).map((label, layer) => ({
      label,
      color: this.colorOf(layer, theme)
    }));
  }
}
