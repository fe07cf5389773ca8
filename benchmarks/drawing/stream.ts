import { Recording } from '../../src-ts/core/recording';
import { readBlocks } from '../../src-ts/hosts/blocks';
import { mount } from '../../src-ts/panels/mount';
import { createStage } from '../../src-ts/panels/stage';
import { taskStream } from '../../src-ts/panels/task-stream';

/** What the measurement calls in the page. All times are milliseconds. */
interface Stream {
  /** Shows one part in `zoom` of the run, from about its middle on. */
  show(zoom: number): void;
  /** Moves by so many pixels, draws, waits until the pixels are there; how long that took. */
  pan(pixels: number): number;
  /** The same for a zoom about the middle. */
  zoom(factor: number): number;
  /** Draws until nothing is rough any more; how long each frame took. */
  settle(): number[];
  /** Finds what is under so many places; how long each took. */
  hover(places: number): number[];
  /** Erred attempts in sight, and how many of them are black in the picture. */
  erred(): { readonly inSight: number; readonly visible: number };
  /** How many attempts are in sight. */
  inSight(): number;
}

declare global {
  interface Window {
    stream: Promise<Stream>;
  }
}

async function open(): Promise<Stream> {
  const blocks = [...document.querySelectorAll<HTMLElement>('script.batches')];
  const recording = new Recording();
  await readBlocks(recording, blocks, () => {});
  const stage = createStage(recording);
  const { tasks, viewport } = stage;
  const { view, surface } = mount(taskStream, stage, document.getElementById('page') as HTMLElement);
  await new Promise(resolve => setTimeout(resolve, 3000));

  const context = surface.base.getContext('2d') as CanvasRenderingContext2D;
  const timed = (work: () => void): number => {
    const began = performance.now();
    work();
    surface.invalidate('base');
    surface.commit();
    context.getImageData(0, 0, 1, 1);
    return performance.now() - began;
  };
  const { start, stop } = viewport.extent;
  return {
    show: zoom => {
      const span = (stop - start) / zoom;
      const from = start + (stop - start - span) * 0.5;
      viewport.show(from, from + span);
      surface.commit();
    },
    pan: pixels => timed(() => viewport.pan(pixels / (view.plot?.().width ?? 1))),
    zoom: factor => timed(() => viewport.zoom(0.5, factor)),
    settle: () => Array.from({ length: 60 }, () => timed(() => {})),
    hover: places => {
      const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
      return Array.from({ length: places }, (_, place) => {
        const began = performance.now();
        // The clock of a page is coarse: the mean of ten neighbours.
        for (let again = 0; again < 10; again++) {
          const x = plot.x + (((place + again / 10) * 0.618034) % 1) * plot.width;
          const y = plot.y + (((place + again / 10) * 0.754878) % 1) * plot.height;
          view.pick?.(x, y);
        }
        return (performance.now() - began) / 10;
      });
    },
    erred: () => {
      const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
      const scale = viewport.scale(plot.width, surface.ratio);
      const { lanes } = tasks;
      const each = plot.height / lanes.length;
      const image = context.getImageData(0, 0, surface.base.width, surface.base.height);
      const pixels = new Uint32Array(image.data.buffer);
      let inSight = 0;
      let visible = 0;
      lanes.forEach((lane, row) => {
        for (let entry = lane.firstAfter(scale.start); entry < lane.length; entry++) {
          if (lane.start[entry] >= scale.stop) break;
          if (lane.status[entry] !== 1 || lane.stop[entry] < scale.start) continue;
          inSight++;
          const middle =
            (Math.max(lane.start[entry], scale.start) + Math.min(lane.stop[entry], scale.stop)) / 2;
          const x = Math.floor(plot.x + Math.min(plot.width - 1, Math.max(0, scale.x(middle))));
          // The line of the critical path may cross it; what is left of its height is seen.
          for (let y = Math.ceil(row * each); y < (row + 1) * each; y++) {
            if (pixels[y * surface.base.width + x] !== 0xff000000) continue;
            visible++;
            break;
          }
        }
      });
      return { inSight, visible };
    },
    inSight: () => {
      const { start: from, stop: to } = viewport;
      return tasks.lanes.reduce((sum, lane) => sum + lane.firstStartAfter(to) - lane.firstAfter(from), 0);
    }
  };
}

window.stream = open();
