import { expect, test, vi } from 'vitest';
import { batchOf, recordingOf } from '../../core/test-recording';
import type { Pen } from '../../draw/pen';
import { Surface } from '../../draw/surface';
import { SvgPen } from '../../draw/svg-pen';
import type { Mark, PanelView } from '../panel';
import { progress } from '../progress';
import { createStage } from '../stage';
import { doneWords } from './words';

const NAMES = Array.from({ length: 20 }, (_, at) => `name-${at}`);
const WORKERS = [{ worker: 'w', threads: 2, joined: 0, left: Number.NaN }];
const STOPPED = [{ name: 'stopped', value: '9' }];

/** Two tasks of each name; of the first so many both are done, of the next one of the two. */
function viewOf(
  done: number,
  about: readonly { name: string; value: string }[] = [],
  before = ''
): PanelView {
  const attempts = NAMES.slice(0, done + 1).flatMap((_, at) =>
    (at < done ? [0, 1] : [0]).map(each => ({
      run: 2 * at + each,
      task: 2 * at + each,
      worker: 'w',
      thread: '1',
      status: 'ok',
      start: at,
      stop: at + 3,
      done: at + 3
    }))
  );
  const recording = recordingOf({
    about,
    workers: WORKERS,
    graph: NAMES.flatMap((prefix, at) =>
      [0, 1].map(each => ({
        task: 2 * at + each,
        prefix: before + prefix,
        submission: 0,
        order: 2 * at + each
      }))
    ),
    attempts
  });
  const surface = new Surface();
  surface.width = 400;
  surface.height = 400;
  const view = progress.create({ ...createStage(recording), surface, say: () => {} });
  expect(view.empty()).toBeUndefined();
  view.layout();
  return view;
}

const first = (view: PanelView): Mark => view.move?.(undefined, 'first') as Mark;
const last = (view: PanelView): Mark => view.move?.(first(view), 'last') as Mark;
const said = (view: PanelView): string =>
  JSON.stringify(
    first(view)
      .card()
      .groups.flatMap(group => group.map(({ value }) => value))
  );

/** How far down the frame round a mark is drawn. */
function framed(view: PanelView, mark: Mark | undefined): number {
  const strokeRect = vi.fn();
  view.drawOverlay?.({ strokeRect } as unknown as Pen, mark);
  return strokeRect.mock.lastCall?.[1] - 0.5;
}

const told = (view: PanelView): string => view.above?.textContent ?? '';

test('names that are all done make room for those that are not', () => {
  const view = viewOf(10);
  expect(first(view).words()).toBe('name-4: all 2 tasks done');
  view.choose?.(last(view), { additive: false });
  view.layout();
  expect(first(view).words()).toBe('name-0: all 2 tasks done');
  expect(last(view).words()).toBe('Show fewer bars');
});

test('names that are over make room for those that go on, the ones that failed last', () => {
  const names = [...NAMES, 'now'];
  const attempts = NAMES.map((_, task) => ({
    run: task,
    task,
    worker: 'w',
    thread: '1',
    status: task === 0 ? 'erred' : 'cancelled',
    start: 1,
    stop: 2,
    done: 2
  }));
  const recording = recordingOf({
    workers: WORKERS,
    graph: names.map((prefix, task) => ({ task, prefix, submission: 0, order: task })),
    attempts,
    running: [{ run: 20, task: 20, worker: 'w', thread: '1', start: 3 }]
  });
  const view = progress.create({ ...createStage(recording), surface: new Surface(), say: () => {} });
  expect(view.empty()).toBeUndefined();
  view.layout();
  const bars = [first(view)];
  while (bars.length < 16) bars.push(view.move?.(bars.at(-1), 'down') as Mark);
  expect(bars.map(({ id }) => id)).toEqual(['name-0', ...NAMES.slice(6), 'now']);
});

test('however many names there are, the picture stays as low as a canvas can be', () => {
  const graph = Array.from({ length: 2000 }, (_, task) => ({ task, prefix: `name-${task}`, submission: 0 }));
  const stage = createStage(recordingOf({ graph, workers: WORKERS }));
  const view = progress.create({ ...stage, surface: new Surface(), say: () => {} });
  let highest = 0;
  for (let asked = 0; asked < 9; asked++) {
    expect(view.empty()).toBeUndefined();
    highest = Math.max(highest, view.height(400));
    view.choose?.(last(view), { additive: false });
  }
  expect(highest).toBeGreaterThan(400 * 20);
  expect(highest).toBeLessThan(8192);
});

test('what waits has a time while the run goes on, and never ran once it is over', () => {
  const live = viewOf(0);
  expect(first(live).words()).toBe('name-0: 1 of 2 tasks done, 1 waiting');
  expect(said(live)).toContain('3\u2009s of one thread');
  expect(told(live)).toContain('at least 1.5\u2009s left on 2 threads');
  // A report of a recording that was killed has no end, and goes on no more.
  const killed = viewOf(0, [{ name: 'signs', value: '[]' }]);
  expect(told(killed)).toContain('39 never ran');
  expect(told(killed)).not.toContain('left on');
  const over = viewOf(0, STOPPED);
  expect(first(over).words()).toBe('name-0: 1 of 2 tasks done, 1 never ran');
  expect(said(over)).not.toContain('of one thread');
});

test('bars of names that are not chosen step back, names and figures are read as before', () => {
  const view = viewOf(0);
  view.choose?.(first(view), { additive: false });
  const pen = new SvgPen(400, 400);
  view.draw(pen);
  const texts = pen.toString().match(/<text[^>]*>/g) ?? [];
  expect(texts.length).toBeGreaterThan(4);
  expect(texts.filter(each => each.includes('opacity'))).toEqual([]);
  expect(pen.toString()).toContain('opacity="0.35"');
});

test('what is pointed at stays the same when others come before it', () => {
  const graph = [{ task: 2, prefix: 'inc', submission: 0, order: 2 }];
  const stage = createStage(recordingOf({ graph, workers: WORKERS }));
  const view = progress.create({ ...stage, surface: new Surface(), say: () => {} });
  expect(view.empty()).toBeUndefined();
  const inc = first(view);
  stage.recording.take(batchOf('graph', [{ task: 1, prefix: 'dec', submission: 0, order: 1 }]));
  view.layout();
  expect(first(view).words()).toContain('dec');
  expect(framed(view, inc)).toBe(last(view).box.y);
  view.choose?.(inc, { additive: false });
  expect(stage.selection.own('progress', 'name')).toEqual(['inc']);
});

test('of one task it is not said that all are done', () => {
  const one = { done: 1, total: 1 } as Parameters<typeof doneWords>[0];
  expect(doneWords(one)).toBe('1 of 1 task done');
});

test('of long names the ends stay that tell them apart', () => {
  const view = viewOf(2, [], 'a-name-longer-than-the-room-for-it-'.repeat(3));
  const fillText = vi.spyOn(SvgPen.prototype, 'fillText');
  view.draw(new SvgPen(400, 400));
  const drawn = fillText.mock.calls.map(([text]) => text);
  fillText.mockRestore();
  expect(drawn.filter(text => /^a-na.*….*e-\d+$/.test(text)).length).toBeGreaterThan(9);
});
