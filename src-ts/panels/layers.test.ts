import { describe, expect, test } from 'vitest';
import { type Row, recordingOf } from '../core/test-recording';
import { Surface } from '../draw/surface';
import { SvgPen } from '../draw/svg-pen';
import { peakOf, stacked } from './layers';
import { memory } from './memory';
import type { Panel, PanelView, Stage } from './panel';
import { resources } from './resources';
import { createStage } from './stage';

test('layers stand on what is known of those below', () => {
  const none = Number.NaN;
  const layers = stacked([Float64Array.of(1, none, 3), Float64Array.of(none, 2, 4)]);
  expect(layers.map(({ low, high }) => [[...low], [...high]])).toEqual([
    [
      [0, 0, 0],
      [1, none, 3]
    ],
    [
      [1, 0, 3],
      [none, 2, 7]
    ]
  ]);
  expect(peakOf(layers)).toBe(7);
  expect(peakOf(stacked([]))).toBe(0);
});

const SPIKE = 1999;

/** A sample a second, one of them ten times the others. */
function sampled(row: (value: number, time: number) => Row): Row[] {
  return Array.from({ length: 4000 }, (_, at) => row(at === SPIKE ? 1000 : 100, 1000 + at));
}

const RESULTS = sampled((nbytes, start) => ({
  run: start,
  task: start,
  worker: 'w',
  thread: 't',
  status: 'ok',
  start,
  stop: start,
  done: start,
  nbytes
}));

describe.each<[string, Panel, Parameters<typeof recordingOf>[0]]>([
  ['memory', memory, { memory: sampled((managed, time) => ({ worker: 'w', time, process: 1, managed })) }],
  [
    'memory by name',
    memory,
    {
      graph: RESULTS.map(({ task }) => ({ task, key: `load-${task}`, prefix: 'load' })),
      attempts: RESULTS,
      releases: RESULTS.map(({ task, done }) => ({ task, time: Number(done) + 1 }))
    }
  ],
  ['tasks', resources, { resources: sampled((executing, time) => ({ process: 'tcp://w', time, executing })) }]
])('%s', (_, panel, tables) => {
  let stage: Stage;
  let view: PanelView;

  /** How far areas reach above the plot, and how high they are where they begin. */
  function drawn(start: number, stop: number): { above: number; first: number } {
    stage.viewport.show(start, stop);
    const pen = new SvgPen(800, 200);
    view.draw(pen);
    const svg = pen.toString();
    const top = Number(/<clipPath[^>]*><path d="M[\d.]+ ([\d.]+)/.exec(svg)?.[1]);
    const areas = [...svg.matchAll(/<path d="([^"]*z)" fill="rgb/g)].map(([, path]) => path);
    const heights = areas.flatMap(path => [...path.matchAll(/[ML]\S+ ([-\d.]+)/g)].map(([, y]) => Number(y)));
    expect(heights.length).toBeGreaterThan(3);
    return { above: top - Math.min(...heights), first: heights[0] };
  }

  test('an axis holds what finer bins show, and stays so', () => {
    stage = createStage(recordingOf(tables));
    const surface = new Surface();
    surface.width = 800;
    view = panel.create({ ...stage, surface, say: () => {} });
    surface.height = view.height(800);
    view.layout();
    const calm = drawn(2000, 2100);
    expect(drawn(1000 + SPIKE - 20, 1000 + SPIKE + 20).above).toBeLessThanOrEqual(0);
    expect(drawn(2000, 2100).first).toBeGreaterThan(calm.first + 10);
  });
});
