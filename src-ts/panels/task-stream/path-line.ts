import { COMPUTE, type CriticalPath, criticalPathOf } from '../../core/critical-path';
import type { Lane } from '../../core/lane';
import { type Box, clipTo, type Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Scale } from '../../draw/viewport';
import { button, setHidden, setPressed } from '../element';
import { icon } from '../icons';
import type { PanelContext } from '../panel';
import { PathSegments } from './path-segments';

/** Shown without being asked for up to so many steps. */
const FEW_STEPS = 60;

/** From this height on, CSS pixels, what computes has an outline; below it, a line. */
const OUTLINED_FROM = 10;

/** Where the lanes stand that are shown. */
export interface LanesPlace {
  readonly plot: Box;
  readonly scale: Scale;
  readonly lanes: readonly Lane[];
  /** First lane that is shown. */
  readonly top: number;
  readonly laneHeight: number;
}

/** The critical path over the lanes, and the button that shows and hides it. */
export class PathLine {
  readonly toggle: HTMLButtonElement;
  private asked: boolean | undefined;
  private requested = false;
  private readonly segments = new PathSegments();
  /** Lane of each thread of the path, -1 if it has none; and what that was worked out for. */
  private laneOf = new Int32Array(0);
  private known = '';
  private readonly stop: () => void;

  constructor(private readonly context: PanelContext) {
    this.toggle = button(
      'Critical path',
      () => {
        this.asked = !this.wanted;
        this.update();
        const comes = this.asked && !this.shown;
        context.say(`The critical path is ${comes ? 'being worked out' : this.asked ? 'shown' : 'hidden'}`);
        context.surface.invalidate('base');
      },
      icon('path')
    );
    this.stop = this.path.onChoose(() => context.surface.invalidate('base'));
    this.update();
  }

  dispose(): void {
    this.stop();
  }

  get shown(): boolean {
    return this.wanted && this.context.recording.table('critical').rows > 0;
  }

  /** A person decides; until then it is shown where it is no thicket, and stands still. */
  private get wanted(): boolean {
    if (this.asked !== undefined) return this.asked;
    return this.context.recording.hasEnded && this.path.steps <= FEW_STEPS;
  }

  update(): void {
    const { recording, tasks, request } = this.context;
    // Of a run that goes on, the path is worked out for those who want to see it.
    const needed = this.asked ?? recording.hasEnded;
    if (needed !== this.requested) request?.(needed);
    this.requested = needed;
    const none = recording.table('critical').rows === 0 && !(request && tasks.count > 0);
    setHidden(this.toggle, none);
    setPressed(this.toggle, request ? this.wanted : this.shown);
  }

  draw(pen: Pen, place: LanesPlace, theme: Theme): void {
    if (!this.shown || place.plot.height <= 0) return;
    this.findLanes(place.lanes);
    const { path, segments, laneOf } = this;
    segments.fill(path, place.scale, laneOf);
    const { plot } = place;
    clipTo(pen, plot);
    // A seam in the colour of the page keeps the line apart from every task.
    pen.strokeStyle = theme.backgroundText;
    this.trace(pen, place, 3.5, 4.5);
    pen.strokeStyle = theme.text;
    this.trace(pen, place, 1, 2);
    pen.restore();
  }

  private get path(): CriticalPath {
    return criticalPathOf(this.context.tasks);
  }

  private findLanes(lanes: readonly Lane[]): void {
    const { threads, version } = this.path;
    const known = `${version}|${this.context.tasks.version}`;
    if (known === this.known) return;
    this.known = known;
    const rows = new Map(lanes.map(({ worker, thread }, row) => [`${worker}\n${thread}`, row]));
    this.laneOf = Int32Array.from(threads, ({ worker, thread }) => rows.get(`${worker}\n${thread}`) ?? -1);
  }

  /** Outlines of what computes, lines where the path waits or goes to another lane. */
  private trace(pen: Pen, { plot, top, laneHeight }: LanesPlace, thin: number, thick: number): void {
    const { count, from, to, lane, kind, joined } = this.segments;
    const topOf = (row: number): number => plot.y + (row - top) * laneHeight;
    const outlined = laneHeight >= OUTLINED_FROM;
    // Where the path waits, its line keeps clear of the names of other tasks.
    const level = outlined ? laneHeight - 3.5 : (laneHeight - 1) / 2;
    pen.lineWidth = thin;
    pen.beginPath();
    for (let at = 0; at < count; at++) {
      const x = plot.x + from[at];
      const y = topOf(lane[at]) + level;
      if (joined[at] && lane[at] !== lane[at - 1]) {
        const before = topOf(lane[at - 1]);
        const down = lane[at] > lane[at - 1];
        pen.moveTo(x, before + (outlined && kind[at - 1] === COMPUTE ? (down ? laneHeight - 1 : 0) : level));
        pen.lineTo(x, outlined && kind[at] === COMPUTE ? topOf(lane[at]) + (down ? 0 : laneHeight - 1) : y);
      }
      if (kind[at] === COMPUTE) continue;
      pen.moveTo(x, y);
      pen.lineTo(plot.x + to[at], y);
    }
    pen.stroke();
    pen.lineWidth = thick;
    pen.beginPath();
    for (let at = 0; at < count; at++) {
      if (kind[at] !== COMPUTE) continue;
      const x = plot.x + from[at];
      const width = to[at] - from[at];
      const y = topOf(lane[at]);
      if (outlined && width >= OUTLINED_FROM / 2) pen.rect(x, y, width, laneHeight - 1);
      else {
        pen.moveTo(x, y + level);
        pen.lineTo(x + width, y + level);
      }
    }
    pen.stroke();
  }
}
