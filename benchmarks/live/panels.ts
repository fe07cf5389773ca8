import type { Lab } from '../../ui-tests/lab/lab';

/** The four panels that are open while something is measured. */
export const PANELS = ['Task stream', 'Resources', 'Memory', 'Flame graph'];

/** A task that is drawn in the task stream. */
export interface Shown {
  /** When it ended on its worker, seconds since the epoch. */
  readonly ended: number;
  /** Milliseconds from then until the task stream was drawn with it. */
  readonly late: number;
}

/** What `install` puts into a page. */
export interface Probe {
  /** The tasks that have been drawn since the last call. */
  shown(): Shown[];
  /** Pans to and fro for so many frames; milliseconds from each frame to the next. */
  pan(frames: number): Promise<number[]>;
  /** How many attempts the page holds. */
  tasks(): number;
  /** Runs `open` and says how many milliseconds later a canvas of this panel had been drawn. */
  firstPicture(id: string, open: () => void): Promise<number>;
}

declare global {
  interface Window {
    probe: Probe;
  }
}

/** Watches what the canvases of the panels draw, and finds the live page behind them. */
export async function install(lab: Lab): Promise<void> {
  await lab.page.evaluate(() => {
    // biome-ignore lint/suspicious/noExplicitAny: the measurement looks behind what is public.
    type Any = any;
    const RUNNING = 7;
    let drawn = new Set<HTMLCanvasElement>();
    // Only where something is drawn: who asks for every frame has the page make sixty a second.
    const { port1, port2 } = new MessageChannel();
    const ever = new WeakSet<HTMLCanvasElement>();
    for (const name of ['drawImage', 'putImageData', 'fillRect', 'fillText', 'stroke', 'fill'] as const) {
      const original = CanvasRenderingContext2D.prototype[name] as (...values: Any[]) => void;
      (CanvasRenderingContext2D.prototype as Any)[name] = function (this: Any, ...values: Any[]) {
        if (drawn.size === 0) port2.postMessage(0);
        drawn.add(this.canvas);
        ever.add(this.canvas);
        return original.apply(this, values);
      };
    }

    const livePage = (): Any => {
      for (const widget of window.jupyterapp.shell.widgets('main')) {
        const seen = new Set<unknown>();
        let row: Any[] = [widget.content];
        for (let depth = 0; depth < 4 && row.length > 0; depth++) {
          const next: Any[] = [];
          for (const each of row) {
            if (typeof each !== 'object' || each === null || each instanceof Node || seen.has(each)) continue;
            seen.add(each);
            if (each.stage?.tasks && each.stage?.viewport) return each;
            for (const key of Object.keys(each)) next.push(each[key]);
          }
          row = next;
        }
      }
      throw new Error('no live page');
    };

    const clock = (): number => (performance.timeOrigin + performance.now()) / 1000;
    // What had ended before may have been drawn before.
    const began = clock();
    const shown: Shown[] = [];
    let known = new Uint8Array(1 << 20);
    const note = (now: number): void => {
      for (const lane of livePage().stage.tasks.lanes) {
        for (let entry = lane.length - 1; entry >= 0; entry--) {
          if (lane.start[entry] < now - 20) break;
          const row = lane.row[entry];
          if (lane.status[entry] === RUNNING || lane.stop[entry] < began) continue;
          if (row >= known.length) {
            const larger = new Uint8Array(2 * row);
            larger.set(known);
            known = larger;
          }
          if (known[row]) continue;
          known[row] = 1;
          shown.push({ ended: lane.stop[entry], late: 1000 * (now - lane.stop[entry]) });
        }
      }
    };
    port1.onmessage = () => {
      // After the frame: what was drawn in it is on its way to the screen.
      const stream = document.querySelector('.di-panel-task-stream canvas') as HTMLCanvasElement | null;
      if (stream && drawn.has(stream)) note(clock());
      drawn = new Set();
    };

    window.probe = {
      shown: () => shown.splice(0),
      tasks: () => livePage().stage.tasks.count,
      pan: frames =>
        new Promise(done => {
          const { viewport } = livePage().stage;
          viewport.zoom(0.5, 0.5);
          const times: number[] = [];
          const step = (now: number): void => {
            times.push(now);
            viewport.pan((times.length % 40 < 20 ? 7 : -7) / 1000);
            if (times.length <= frames) requestAnimationFrame(step);
            else done(times.slice(1).map((time, index) => time - times[index]));
          };
          requestAnimationFrame(step);
        }),
      firstPicture: (id, open) =>
        new Promise(done => {
          const began = performance.now();
          open();
          const look = (): void => {
            const canvas = document.querySelector(`.di-panel-${id} canvas`) as HTMLCanvasElement | null;
            if (canvas && canvas.width > 10 && ever.has(canvas)) {
              const { port1: after, port2: ask } = new MessageChannel();
              after.onmessage = () => done(performance.now() - began);
              ask.postMessage(0);
            } else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        })
    };
  });
}
