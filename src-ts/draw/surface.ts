import type { Pen } from './pen';
import { PLAIN, type Theme, themeOf, watchTheme } from './theme';

/** The two sheets of a surface: the picture, and what changes with the pointer. */
export type Sheet = 'base' | 'overlay';

interface Painter {
  layout(): void;
  draw(pen: Pen): void;
  /** `sheet` is called only by who draws on it: what is touched has to be put together anew. */
  drawOverlay(sheet: () => Pen): void;
  /** The theme has become another one: what has no picture is not drawn anew. */
  themed?(): void;
}

/** How far outside the window a surface is drawn, CSS pixels. */
const NEAR = 200;

/** Device pixels of the largest canvas that every browser draws: of a larger one some show nothing, and say nothing. */
export const MOST_PIXELS = 16e6;

/** Time in one frame after which no further surface is begun, milliseconds. */
const BUDGET = 24;

const waiting = new Set<Surface>();
let frame = 0;

/** One frame for all surfaces of the page. */
function schedule(surface: Surface): void {
  waiting.add(surface);
  if (frame === 0) frame = requestAnimationFrame(commit);
}

/**
 * Draws what waits, in the order in which it was asked for; what does not fit
 * into a frame comes first in the next, so that a slow chart delays none above it.
 */
function commit(): void {
  frame = 0;
  const began = performance.now();
  for (const surface of [...waiting]) {
    waiting.delete(surface);
    try {
      surface.commit();
    } catch (error) {
      // One chart that fails must not stop the others.
      reportError(error);
    }
    if (performance.now() - began > BUDGET) break;
  }
  if (waiting.size > 0) frame = requestAnimationFrame(commit);
}

/** Draws a surface at once, so that the next frame has it; what else waits is drawn after that frame. */
export function commitFirst(surface: Surface): void {
  surface.commit();
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(commit);
  });
}

/**
 * Two canvases, one over the other, that fill a host. Whoever changes something
 * calls `invalidate`; the painter is called at most once a frame, and only
 * while the surface can be seen.
 */
export class Surface {
  readonly element = document.createElement('div');
  readonly base = document.createElement('canvas');
  readonly overlay = document.createElement('canvas');
  /** CSS pixels. */
  width = 0;
  height = 0;
  /** Device pixels in a CSS pixel; fewer than the screen has where there would be too many. */
  ratio = 1;
  theme: Theme = PLAIN;
  /** Is another whenever the theme is. */
  look = '';
  /** Whether anything stands on the overlay. */
  overlaid = false;
  private painter: Painter | undefined;
  private visible = true;
  private layingOut = false;
  private drawn = false;
  private stale = new Set<Sheet | 'layout'>();
  private readonly stops: (() => void)[] = [];

  constructor() {
    this.element.className = 'di-surface';
    this.element.style.position = 'relative';
    for (const canvas of [this.base, this.overlay]) {
      canvas.setAttribute('aria-hidden', 'true');
      canvas.style.cssText = 'position:absolute;inset:0;width:100%;height:100%;display:block';
      // After a sleep, say: what stood on it is gone.
      canvas.addEventListener('contextrestored', () => this.invalidate('layout'));
      this.element.append(canvas);
    }
    this.overlay.style.pointerEvents = 'none';
  }

  /** Starts to draw: call it when the element is in the page. */
  start(painter: Painter): void {
    const resized = new ResizeObserver(() => this.measure());
    resized.observe(this.element);
    const seen = new IntersectionObserver(
      entries => {
        this.visible = entries[entries.length - 1].isIntersecting;
        if (this.visible && this.stale.size > 0) schedule(this);
      },
      // In a notebook it is not the window that scrolls.
      { rootMargin: `${NEAR}px`, scrollMargin: `${NEAR}px` }
    );
    // What stands above a picture, as its legend, is laid out with it: it may be in sight first.
    seen.observe(this.element.parentElement ?? this.element);
    this.visible = this.isNear();
    this.stops.push(
      watchRatio(() => this.measure()),
      () => resized.disconnect(),
      () => seen.disconnect(),
      watchTheme(() => this.readTheme())
    );
    this.readTheme();
    this.measure();
    this.painter = painter;
  }

  /** Something changed: what is drawn on that sheet, or (`layout`) where everything stands. */
  invalidate(what: Sheet | 'layout' = 'base'): void {
    // What is laid out is drawn right after, in the same frame.
    if (this.layingOut && what !== 'layout') return;
    this.stale.add(what);
    if (this.visible) schedule(this);
  }

  /** Draws what is stale, now. The page's frame calls this; tests and benchmarks may. */
  commit(): void {
    waiting.delete(this);
    if (!this.painter || this.width === 0 || this.height === 0) return;
    const stale = this.stale;
    this.stale = new Set();
    const all = stale.has('layout');
    if (all) this.layOut(this.painter);
    if (all || stale.has('base')) this.painter.draw(this.pen(this.base, false));
    if (this.drawn || stale.has('overlay')) this.commitOverlay(this.painter);
    else this.invalidate('overlay');
    this.drawn = true;
  }

  private layOut(painter: Painter): void {
    this.layingOut = true;
    try {
      painter.layout();
    } finally {
      this.layingOut = false;
    }
  }

  private commitOverlay(painter: Painter): void {
    let pen: Pen | undefined;
    painter.drawOverlay(() => {
      pen ??= this.pen(this.overlay, true);
      return pen;
    });
    if (this.overlaid && !pen) this.pen(this.overlay, true);
    this.overlaid = pen !== undefined;
  }

  /** Reads the theme and the size again and draws at once, seen or not; for printing. */
  refresh(): void {
    this.readTheme();
    this.measure();
    this.stale.add('layout');
    this.commit();
  }

  dispose(): void {
    for (const stop of this.stops.splice(0)) stop();
    waiting.delete(this);
    this.painter = undefined;
    this.element.remove();
  }

  private pen(canvas: HTMLCanvasElement, clear: boolean): Pen {
    const width = Math.max(1, Math.round(this.width * this.ratio));
    const height = Math.max(1, Math.round(this.height * this.ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext('2d', { alpha: clear }) as CanvasRenderingContext2D;
    // Also in a page that is read from the right.
    context.direction = 'ltr';
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (clear) {
      context.clearRect(0, 0, this.width, this.height);
    } else {
      context.fillStyle = this.theme.backgroundText;
      context.fillRect(0, 0, this.width, this.height);
    }
    return context;
  }

  private isNear(): boolean {
    const { top, bottom } = this.element.getBoundingClientRect();
    return top < window.innerHeight + NEAR && bottom > -NEAR;
  }

  private readTheme(): void {
    const theme = themeOf(this.element);
    const look = JSON.stringify(theme);
    // Pages change classes and styles of theirs for many other reasons.
    if (look === this.look) return;
    this.theme = theme;
    this.look = look;
    this.invalidate('layout');
    this.painter?.themed?.();
  }

  private measure(): void {
    const { clientWidth, clientHeight } = this.element;
    const ratio = Math.min(
      window.devicePixelRatio || 1,
      Math.sqrt(MOST_PIXELS / (clientWidth * clientHeight))
    );
    if (clientWidth === this.width && clientHeight === this.height && ratio === this.ratio) return;
    // What was not in the page until now had no background to stand on.
    if (this.width === 0) this.readTheme();
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = ratio;
    // The canvases keep their old size until they are drawn: nobody sees a frame of nothing.
    this.invalidate('layout');
  }
}

/**
 * Tells when a CSS pixel has become another number of device pixels: the window
 * has gone to another screen, which changes no size. Returns the stop.
 */
function watchRatio(changed: () => void): () => void {
  let stop = (): void => {};
  const watch = (): void => {
    const query = matchMedia(`(resolution: ${window.devicePixelRatio || 1}dppx)`);
    const tell = (): void => {
      stop();
      watch();
      changed();
    };
    query.addEventListener('change', tell);
    stop = () => query.removeEventListener('change', tell);
  };
  watch();
  return () => stop();
}
