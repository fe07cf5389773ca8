import type { PackedColumn, Values } from '../../src-ts/core/batch';
import { Recording } from '../../src-ts/core/recording';
import { NOTHING } from '../../src-ts/core/schema';
import { flameGraph } from '../../src-ts/panels/flame-graph';
import { mount } from '../../src-ts/panels/mount';
import { createStage } from '../../src-ts/panels/stage';
import { callTree } from './call-tree';

/** What the measurement calls in a page with a flame graph, whoever drew it. */
export interface Flame {
  /** Zooms in about the middle, so that there is something to pan. */
  zoomIn(): void;
  pan(pixels: number): void;
  /** Finds names; how long that took, milliseconds. */
  search?(text: string): number;
  /** One frame, drawn at once; how long it took until the pixels were there, milliseconds. */
  work?(pixels: number): number;
}

declare global {
  interface Window {
    flame: Promise<Flame>;
  }
}

function packed(values: Values): PackedColumn {
  return { kind: values.kind, size: 0, read: () => values };
}

/** First lines by which callees of one name that one frame calls are told apart, so that none are merged. */
function apart(parent: Int32Array, name: Uint32Array, names: number): Uint32Array {
  const seen = new Map<number, number>();
  return name.map((each, node) => {
    const callee = parent[node] * names + each;
    const line = (seen.get(callee) ?? 0) + 1;
    seen.set(callee, line);
    return line;
  });
}

function recorded(size: number): Recording {
  const { parent, name, self, names } = callTree(size);
  const ids = Uint32Array.from({ length: size }, (_, node) => node);
  const recording = new Recording();
  const take = (table: string, rows: number, columns: Readonly<Record<string, Values>>): void => {
    const map = new Map(Object.entries(columns).map(([column, values]) => [column, packed(values)]));
    recording.take({ table, rows, columns: map });
  };
  take('stacks', size, {
    stack: { kind: 'u32', values: ids },
    parent: { kind: 'u32', values: Uint32Array.from(parent, each => (each < 0 ? NOTHING : each)) },
    line: { kind: 'u32', values: new Uint32Array(size).fill(1) },
    first_line: { kind: 'u32', values: apart(parent, name, names.length) },
    function: { kind: 'sym', codes: name, names },
    file: { kind: 'sym', codes: new Uint8Array(size), names: ['package/module.py'] }
  });
  let time = 0;
  take('samples', size, {
    process: { kind: 'sym', codes: new Uint8Array(size), names: ['worker'] },
    thread: { kind: 'sym', codes: new Uint8Array(size), names: ['1'] },
    time: {
      kind: 'time',
      values: self.map(each => {
        time += each;
        return time;
      })
    },
    duration: { kind: 'f32', values: Float32Array.from(self) },
    stack: { kind: 'u32', values: ids },
    run: { kind: 'u32', values: new Uint32Array(size) }
  });
  return recording;
}

async function open(): Promise<Flame> {
  const size = Number(new URLSearchParams(location.hash.slice(1)).get('size') ?? 200_000);
  const stage = createStage(recorded(size));
  const { view, surface } = mount(flameGraph, stage, document.getElementById('page') as HTMLElement);
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  const context = surface.base.getContext('2d') as CanvasRenderingContext2D;
  const timed = (work: () => void): number => {
    const began = performance.now();
    work();
    surface.commit();
    context.getImageData(0, 0, 1, 1);
    return performance.now() - began;
  };
  return {
    zoomIn: () => view.gestures?.zoom?.(surface.width / 2, 10, 1 / 1.5),
    pan: pixels => view.gestures?.pan?.(pixels, 0),
    work: pixels => timed(() => view.gestures?.pan?.(pixels, 0)),
    search: text => {
      if (!view.search) return Number.NaN;
      const began = performance.now();
      view.search.value = text;
      view.search.dispatchEvent(new Event('input'));
      return performance.now() - began;
    }
  };
}

window.flame = open();
