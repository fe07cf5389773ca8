import { expect, test } from 'vitest';
import type { Recording } from '../../core/recording';
import { recordingOf } from '../../core/test-recording';
import type { Box } from '../../draw/pen';
import { Surface } from '../../draw/surface';
import { SvgPen } from '../../draw/svg-pen';
import { memory } from '../memory';
import type { Mark, PanelView, Stage } from '../panel';
import { createStage } from '../stage';

/** The panel with a line of each worker. */
function linesOf(stage: Stage): { view: PanelView; plot: Box } {
  const surface = new Surface();
  surface.width = 800;
  const view: PanelView = memory.create({ ...stage, surface, say: () => {} });
  const looks = view.controls?.[1] as HTMLSelectElement;
  looks.value = 'workers';
  looks.dispatchEvent(new Event('change'));
  surface.height = view.height(800);
  view.layout();
  const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
  return { view, plot };
}

test('a click on a line of each worker chooses that worker, whatever it is called', () => {
  const addresses = ['tcp://h:1', 'tcp://h:2'];
  const stage = createStage(
    recordingOf({
      workers: addresses.map((worker, at) => ({ worker, name: String(at), threads: 1 })),
      memory: addresses.map(worker => ({ worker, time: 1, process: 5, managed: 1 }))
    })
  );
  const { view, plot } = linesOf(stage);
  const second = view.pick?.(plot.x + 5, plot.y + 0.75 * plot.height);
  expect(second?.card().title).toBe('worker 1');
  view.choose?.(second, { additive: false });
  expect(stage.selection.own('memory', 'worker')).toEqual(['tcp://h:2']);
  view.choose?.(second, { additive: false });
  expect(stage.selection.clauses).toEqual([]);
});

test('arrow keys go from moment to moment, and from worker to worker, each of which has its name beside it', () => {
  const workers = [0, 1, 2];
  const stage = createStage(
    recordingOf({
      workers: workers.map(name => ({ worker: `tcp://h:${name}`, name: String(name), threads: 1 })),
      memory: [1, 11].flatMap(time =>
        workers.map(name => ({ worker: `tcp://h:${name}`, time, process: 1024, managed: 1 }))
      )
    })
  );
  const surface = new Surface();
  surface.width = 800;
  const view = memory.create({ ...stage, surface, say: () => {} });
  const looks = view.controls?.[1] as HTMLSelectElement;
  looks.value = 'workers';
  looks.dispatchEvent(new Event('change'));
  surface.height = view.height(800);
  view.layout();
  const words = (mark: Mark | undefined): string => mark?.words().replace(/:.*, at/, '') ?? '';
  const first = view.move?.(undefined, 'first');
  expect(words(first)).toBe('worker 0 5.000\u2009s');
  expect(stage.viewport.cursor).toBeCloseTo(6);
  const below = view.move?.(first, 'down');
  expect(words(below)).toBe('worker 1 5.000\u2009s');
  expect(words(view.move?.(below, 'right'))).toBe('worker 1 5.200\u2009s');
  expect(words(view.move?.(below, 'up'))).toBe('worker 0 5.000\u2009s');
  expect(view.move?.(first, 'up')?.id).toBe(first?.id);
  expect(words(view.move?.(below, 'last'))).toMatch(/^worker 1 9.99\d/);
  expect(words(view.move?.(below, 'first'))).toMatch(/^worker 1 0.00\d/);
  expect(view.rows?.().row(2)[0]).toBe('worker 2');
});

test('the choice of the time axis says what is shown, also after there was one run only', () => {
  const recording = (...starts: number[]): Recording =>
    recordingOf({
      memory: [{ worker: 'w', time: 1, process: 5, managed: 1 }],
      attempts: starts.map(start => ({ worker: 'w', thread: 't', status: 'ok', start, stop: start + 1 }))
    });
  const stage = createStage(recording(1, 9));
  const view = memory.create({ ...stage, surface: new Surface(), say: () => {} });
  const axis = view.controls?.[0] as HTMLSelectElement;
  view.layout();
  axis.value = 'aligned';
  axis.dispatchEvent(new Event('change'));
  view.layout();
  expect([axis.hidden, view.ownAxis]).toEqual([false, true]);
  stage.recording.replace(recording(1));
  view.layout();
  stage.recording.replace(recording(1, 9));
  view.layout();
  expect([axis.hidden, view.ownAxis, axis.value]).toEqual([false, false, 'whole']);
});

test('of workers that are chosen the table has those, and where none has a sample that is said', () => {
  const stage = createStage(
    recordingOf({
      workers: [
        { worker: 'a', memory_limit: 2048 },
        { worker: 'b', memory_limit: 4096 }
      ],
      memory: ['a', 'b'].map(worker => ({ worker, time: 1, process: 1024 })),
      // Its own samples, which are more, tell of more.
      resources: [{ process: 'b', time: 1.2, memory: 3072 }]
    })
  );
  const view = memory.create({ ...stage, surface: new Surface(), say: () => {} });
  const choose = (...value: string[]): void => {
    stage.selection.set({ source: 'workers', column: 'worker', value });
    view.layout();
  };
  choose('b');
  expect(view.empty()).toBeUndefined();
  expect(view.rows?.().length).toBe(1);
  expect(view.rows?.().row(0)).toEqual(['b', '3\u2009KiB', '–', '–', '–', '–', '4\u2009KiB']);
  expect([0, 1, 6].map(column => view.rows?.().value?.(0, column))).toEqual(['b', 3072, 4096]);
  choose('gone');
  expect(view.empty()).toContain('No memory sample of what is chosen');
});

test('of workers that share a line of the map the one with the most is told, which the line shows', () => {
  const workers = Array.from({ length: 480 }, (_, at) => `tcp://h:${at}`);
  const stage = createStage(
    recordingOf({
      workers: workers.map((worker, at) => ({ worker, name: String(at), threads: 1 })),
      memory: [1, 2].flatMap(time =>
        workers.map((worker, at) => ({ worker, time, process: at === 1 ? 1024 : 1, managed: 0 }))
      )
    })
  );
  const { view, plot } = linesOf(stage);
  const first = view.pick?.(plot.x + plot.width / 2, plot.y + 0.1);
  expect(first?.card().title).toBe('worker 1, the most of 2 in this line');
  expect(String(first?.id)).toContain('tcp://h:1\n');
  const last = view.pick?.(plot.x + plot.width / 2, plot.y + plot.height - 0.1);
  expect(last?.card().title).toBe('worker 478, the most of 2 in this line');
  expect(last?.box).toMatchObject({ y: plot.y + plot.height - 1, height: 1 });
});

test('of many workers no more is kept than is drawn: their sums, or the lines of the map', () => {
  const workers = Array.from({ length: 1000 }, (_, at) => `tcp://h:${at}`);
  const sample = { process: 5, managed: 1, unmanaged_old: 2, unmanaged_recent: 1, spilled: 1 };
  const rows = [1, 2].flatMap(time => workers.map(worker => ({ worker, time, ...sample })));
  const stage = createStage(recordingOf({ memory: rows }));
  const surface = new Surface();
  surface.width = 800;
  const view = memory.create({ ...stage, surface, say: () => {} });
  surface.height = view.height(800);
  view.layout();
  view.draw(new SvgPen(800, 400));
  const { cache } = view as unknown as {
    cache: { kept: Map<string, { value: readonly unknown[] }> };
  };
  const lines = (): number[] => [...cache.kept.values()].map(({ value }) => value.length);
  expect(lines()).toEqual([1, 1, 1, 1]);
  const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
  const mark = view.pick?.(plot.x + plot.width / 2, plot.y + 5);
  expect(mark?.card().title).toBe('1,000 workers');
  expect(mark?.card().groups[1][0]).toMatchObject({ label: 'process', value: '4.88\u2009KiB' });
  expect(String(mark?.id).length).toBeLessThan(100);
});

test('the legend of more runs than there is room for says how many more there are', () => {
  const starts = Array.from({ length: 30 }, (_, at) => 1 + 9 * at);
  const attempts = starts.map(start => ({
    worker: 'w',
    thread: 't',
    status: 'ok',
    start,
    stop: start + 1,
    done: start + 1
  }));
  const samples = starts.map(time => ({ worker: 'w', time, process: 5, managed: 1 }));
  const stage = createStage(recordingOf({ memory: samples, attempts }));
  const surface = new Surface();
  surface.width = 800;
  const view = memory.create({ ...stage, surface, say: () => {} });
  view.layout();
  const axis = view.controls?.[0] as HTMLSelectElement;
  axis.value = 'aligned';
  axis.dispatchEvent(new Event('change'));
  surface.height = view.height(800);
  view.layout();
  const pen = new SvgPen(800, 400);
  view.draw(pen);
  const drawn = pen.toString();
  const names = view.signs?.().filter(({ label }) => drawn.includes(`>${label}<`)) ?? [];
  expect(names.length).toBeGreaterThan(2);
  expect(drawn).toContain(`>${30 - names.length} more<`);
});
