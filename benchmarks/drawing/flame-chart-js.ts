import { FlameChart } from 'flame-chart-js';
import { type Calls, callTree } from './call-tree';
import type { Flame } from './flame';

interface Node {
  name: string;
  start: number;
  duration: number;
  children: Node[];
}

/** Milliseconds, children one after another. */
function nodes({ parent, name, self, names }: Calls): Node[] {
  const made = Array.from(self, (each, node): Node => {
    return { name: names[name[node]], start: 0, duration: each * 1000, children: [] };
  });
  for (let node = made.length - 1; node > 0; node--) made[parent[node]].duration += made[node].duration;
  const free = new Float64Array(made.length);
  for (let node = 1; node < made.length; node++) {
    const above = made[parent[node]];
    made[node].start = above.start + free[parent[node]];
    free[parent[node]] += made[node].duration;
    above.children.push(made[node]);
  }
  return [made[0]];
}

async function open(): Promise<Flame> {
  const size = Number(new URLSearchParams(location.hash.slice(1)).get('size') ?? 200_000);
  const canvas = document.createElement('canvas');
  canvas.width = window.innerWidth;
  canvas.height = 560;
  document.getElementById('page')?.append(canvas);
  const data = nodes(callTree(size));
  const chart = new FlameChart({ canvas, data });
  let span = data[0].duration;
  let start = 0;
  const pan = (pixels: number): void => {
    start -= (pixels / canvas.width) * span;
    chart.setZoom(start, start + span);
  };
  chart.render();
  await new Promise(requestAnimationFrame);
  return {
    zoomIn: () => {
      start += (span - span / 1.5) / 2;
      span /= 1.5;
      chart.setZoom(start, start + span);
    },
    pan,
    work: pixels => {
      const began = performance.now();
      // It draws in the next frame; here that is at once, so that the work can be timed.
      const later = window.requestAnimationFrame;
      window.requestAnimationFrame = draw => {
        draw(began);
        return 0;
      };
      pan(pixels);
      window.requestAnimationFrame = later;
      canvas.getContext('2d')?.getImageData(0, 0, 1, 1);
      return performance.now() - began;
    }
  };
}

window.flame = open();
