import { beforeEach, describe, expect, test, vi } from 'vitest';
import { NOTHING } from '../../core/schema';
import { Tasks } from '../../core/tasks';
import { batchOf, type Row, recordingOf } from '../../core/test-recording';
import type { Pen } from '../../draw/pen';
import { Surface } from '../../draw/surface';
import type { Mark, PanelView, Stage } from '../panel';
import { createStage } from '../stage';
import { taskStream } from '../task-stream';
import { FIRST_NAME, Raster } from './cells';
import { Sheet } from './sheet';
import type { TaskStreamView } from './view';

const START = 1000;

const GRAPH: readonly Row[] = [
  { task: 0, key: "('inc-77', 0)", prefix: 'inc', span: 's', order: 3 },
  { task: 1, key: 'sum-1', prefix: 'sum' },
  { task: 2, key: 'fails-2', prefix: 'fails' }
];

const ATTEMPTS: readonly Row[] = [
  {
    run: 0,
    task: 0,
    worker: 'w1',
    thread: 't1',
    status: 'ok',
    submitted: 1000,
    start: 1001,
    stop: 1002,
    done: 1002.1,
    nbytes: 2048
  },
  { run: 1, task: 1, worker: 'w1', thread: 't1', status: 'ok', start: 1004, stop: 1006, done: 1006.1 },
  { run: 2, task: 2, worker: 'w2', thread: 't1', status: 'retried', start: 1002, stop: 1003, done: 1003.1 },
  { run: 3, task: 2, worker: 'w2', thread: 't1', status: 'erred', start: 1005, stop: 1008, done: 1008.1 },
  { run: 4, task: 1, worker: 'w2', status: 'stolen', done: 1003 }
];

/** An attempt with the number of its task, on a thread on which nothing else runs. */
const ran = (task: number, start: number, stop: number): Row => ({
  run: task,
  task,
  worker: 'w2',
  thread: 't2',
  status: 'ok',
  start,
  stop
});

let stage: Stage;
let surface: Surface;
let view: PanelView;

beforeEach(() => {
  const recording = recordingOf({
    about: [{ name: 'started', value: String(START) }],
    graph: GRAPH,
    spans: [{ span: 's', name: 'load', path: 'load' }],
    workers: [
      { worker: 'w1', name: '0', pid: 4711 },
      { worker: 'w2', name: '1' }
    ],
    attempts: ATTEMPTS,
    executions: [{ run: 0, worker: 'w1', cpu: 0.5, executing: 1000.9, ready: 1000.8, received: 1000.7 }],
    collections: [
      { process: 'w1', time: 1001.5, duration: 0.25, freed: 3, run: 0 },
      { process: 'w1', time: 1001.7, duration: 0.125, freed: 0, run: 0 },
      { process: 'w1', time: 1003.5, duration: 0.5, freed: 0, run: NOTHING }
    ],
    errors: [{ run: 3, task: 2, exception: "ValueError('no')", traceback: 'line 12' }],
    edges: [{ task: 1, dependency: 0 }]
  });
  stage = createStage(recording);
  surface = new Surface();
  surface.width = 1000;
  surface.height = 2 * 22 + 22;
  view = taskStream.create({ ...stage, surface, say: () => {} });
  view.layout();
});

/** The place of a moment in a lane. */
function at(time: number, lane: number, lanes = 2): { x: number; y: number } {
  const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
  const { x } = stage.viewport.scale(plot.width);
  return { x: plot.x + x(time), y: (lane + 0.5) * (plot.height / lanes) };
}

function cardAt(time: number, lane: number, lanes?: number): Record<string, string> {
  const { x, y } = at(time, lane, lanes);
  const card = view.pick?.(x, y)?.card();
  const lines = card?.groups.flat().map(({ label, value }) => [label, value.replaceAll('\u2009', ' ')]) ?? [];
  return { title: card?.title ?? '', text: card?.text ?? '', ...Object.fromEntries(lines) };
}

/** Another recording of the same tasks takes the place of the one shown, with other names. */
function replaceBy(names: Readonly<Record<string, string>>, attempts = ATTEMPTS): void {
  show({ graph: GRAPH.map(row => ({ ...row, prefix: names[row.prefix] ?? row.prefix })), attempts });
}

function show(rows: Parameters<typeof recordingOf>[0]): void {
  const next = recordingOf(rows);
  stage.tasks.succeed(new Tasks(next));
  stage.recording.replace(next);
  view.layout();
}

describe('Task stream', () => {
  test('the card of a task that runs says where it was seen last, and what had called that', () => {
    show({
      about: [{ name: 'started', value: String(START) }],
      graph: GRAPH,
      attempts: ATTEMPTS,
      running: [{ run: 9, task: 1, worker: 'w2', thread: 't9', start: 1008 }],
      stacks: [
        { stack: 0, parent: NOTHING, function: 'load', file: '/home/me/work.py', line: 12 },
        { stack: 1, parent: 0, function: '<b>read', file: '/home/me/io.py', line: 3 }
      ],
      samples: [
        { process: 'w2', time: 1008.5, duration: 0.5, run: 9, stack: 1 },
        { process: 'w2', time: 1009, duration: 0.5, run: 0, stack: 0 }
      ],
      lines: [{ file: '/home/me/work.py', line: 12, text: 'table = read(path)' }]
    });
    expect(stage.recording.end).toBe(1009);
    const lane = stage.tasks.lanes.findIndex(({ thread }) => thread === 't9');
    surface.height = stage.tasks.lanes.length * 22 + 22;
    view.layout();
    expect(cardAt(1008.5, lane, stage.tasks.lanes.length)).toMatchObject({
      'Seen 500\u2009ms ago': 'me/io.py:3',
      text: [
        'File "/home/me/work.py", line 12, in load',
        '  table = read(path)',
        'File "/home/me/io.py", line 3, in <b>read'
      ].join('\n')
    });
  });

  test('the card says everything that is known', () => {
    expect(cardAt(1001.5, 0)).toMatchObject({
      title: 'inc',
      Key: "('inc-77', 0)",
      Status: 'finished',
      Took: '1 s',
      Worker: '0 (w1)',
      Process: '4711',
      'Order in its graph': '3',
      'Waited for thread': '100 ms',
      'Waited for data': '100 ms',
      'Collected garbage': '375 ms (38 %)',
      CPU: '500 ms (50 %)',
      Result: '2 KiB',
      'Needed by': '1 task',
      Span: 'load'
    });
    expect(cardAt(1005, 0)).toMatchObject({ title: 'sum', Inputs: '1 (inc)' });
    expect(cardAt(1005, 0)).not.toHaveProperty('Collected garbage');
    expect(cardAt(1006, 1)).toMatchObject({
      title: 'fails',
      Status: 'failed, attempt 2 of 2',
      Error: "ValueError('no')",
      text: 'line 12'
    });
    expect(cardAt(1002.5, 1).Status).toBe('failed, was tried again, attempt 1 of 2');
    show({ graph: GRAPH.map(({ order: _, ...row }) => row), attempts: ATTEMPTS });
    expect(cardAt(1001.5, 0)).not.toHaveProperty('Order in its graph');
  });

  test('what runs is the attempt after those that have ended', () => {
    const running = { worker: 'w1', thread: 't1', start: 1008.2 };
    stage.recording.take(batchOf('running', [{ ...running, run: 8, task: 2 }]));
    stage.recording.take(batchOf('running', [{ ...running, run: 9, task: 3, worker: 'w2', start: 1008.15 }]));
    stage.recording.take(batchOf('resources', [{ process: 'w1', time: 1009 }]));
    view.layout();
    expect(cardAt(1008.6, 0).Status).toBe('running, attempt 3');
    expect(cardAt(1008.6, 1).Status).toBe('running');
  });

  test('of what was lost with its worker no start is told that nobody knows', () => {
    const lost = { run: 5, task: 1, worker: 'w2', thread: 't1', status: 'killed' };
    stage.recording.take(batchOf('attempts', [{ ...lost, assigned: 1008.5, done: 1009 }]));
    view.layout();
    const card = cardAt(1008.75, 1);
    expect(card).toMatchObject({ title: 'sum', Status: 'lost with its worker, attempt 3 of 3' });
    expect(card.Started).toContain('not known, assigned at 8.5000 s (');
    expect(card.Lost).toContain('9.0000 s (');
    for (const label of ['Took', 'Computed', 'Until in memory']) expect(card).not.toHaveProperty(label);
    const { x, y } = at(1008.75, 1);
    expect(view.pick?.(x, y)?.words()).toContain('start not known, assigned at');
    expect(view.rows?.().row(4).slice(3, 5)).toEqual(['–', '–']);
  });

  test('only of what ended well it is told how long it took until it was in memory', () => {
    expect(cardAt(1001.5, 0)).toHaveProperty('Until in memory');
    expect(cardAt(1006, 1)).not.toHaveProperty('Until in memory');
  });

  test('in a pixel that many tasks share, one of the name that it shows is met, and a failure before all', () => {
    const pen = new Proxy({} as Pen, { get: () => () => {}, set: () => true });
    vi.spyOn(Sheet.prototype, 'paint').mockReturnValue();
    stage.viewport.show(1000, 2000);
    const plot = view.plot?.() ?? { x: 0, width: 1 };
    const scale = stage.viewport.scale(plot.width, 1);
    const during = (run: number, task: number, from: number, to: number, status = 'ok'): Row => {
      const [start, stop] = [from, to].map(part => scale.time(100 + part));
      return { run, task, worker: 'w2', thread: 't1', status, start, stop };
    };
    const shown = (): string | undefined =>
      view
        .pick?.(plot.x + 100.2, 30)
        ?.words()
        .split(', at')[0];
    const add = (...rows: Row[]): string | undefined => {
      stage.recording.take(batchOf('attempts', rows));
      view.layout();
      view.draw(pen);
      return shown();
    };
    const many = [during(10, 0, 0.1, 0.3), during(11, 1, 0.3, 0.6), during(12, 0, 0.6, 0.8)];
    expect(add(...many)).toBe('inc, finished');
    expect(add(during(13, 2, 0.9, 0.91, 'erred'))).toContain('fails, failed');
    vi.restoreAllMocks();
  });

  test('nothing is found where nothing is', () => {
    const { x, y } = at(1003, 0);
    expect(view.pick?.(x, y)).toBeUndefined();
    expect(view.pick?.(3, 5)).toBeUndefined();
  });

  test('attempts that never ran are told of', () => {
    expect(view.below?.textContent).toContain('1 attempt never ran on a thread');
    expect(view.below?.textContent).toContain('1 stolen');
  });

  test('a click chooses the name, and again leaves it', () => {
    const { x, y } = at(1005, 0);
    const mark = view.pick?.(x, y);
    view.choose?.(mark, { additive: false });
    expect(stage.selection.clauses).toEqual([{ source: 'task-stream', column: 'name', value: ['sum'] }]);
    view.choose?.(mark, { additive: false });
    expect(stage.selection.clauses).toEqual([]);
  });

  test('arrow keys go from task to task and bring it into sight', () => {
    stage.viewport.show(1000.5, 1002.5);
    const first = view.move?.(undefined, 'first');
    expect(first?.words()).toContain('inc, finished');
    const next = view.move?.(first, 'right');
    expect(next?.words()).toContain('sum');
    expect(stage.viewport.start).toBeLessThan(1004);
    expect(stage.viewport.stop).toBeGreaterThan(1004);
    const below = view.move?.(next, 'down');
    expect(below?.words()).toContain('fails, failed');
    expect(view.move?.(below, 'down')?.id).toBe(below?.id);
  });

  test('the first task is the one that fills the view, which stays where it is', () => {
    stage.viewport.show(1005.2, 1005.8);
    const { start, stop } = stage.viewport;
    const first = view.move?.(undefined, 'first');
    expect(first?.words()).toContain('sum, finished, at 4.0000\u2009s, took 2\u2009s');
    expect([stage.viewport.start, stage.viewport.stop]).toEqual([start, stop]);
    // Nor is one that begins before it, and ends within it, moved.
    stage.viewport.show(1005.2, 1007);
    expect(view.move?.(undefined, 'first')?.words()).toContain('sum');
    expect([stage.viewport.start, stage.viewport.stop]).toEqual([1005.2, 1007]);
    // Nothing of this lane is in sight, but something of the next.
    stage.viewport.show(1006.5, 1007);
    expect(view.move?.(undefined, 'first')?.words()).toContain('fails, failed');
  });

  test('where names are chosen, arrow keys go from one of their tasks to the next', () => {
    stage.selection.set({ source: 'x', column: 'name', value: ['fails', 'sum'] });
    view.layout();
    const sum = view.move?.(undefined, 'first');
    expect(sum?.words()).toContain('sum');
    expect(view.move?.(sum, 'left')?.id).toBe(sum?.id);
    stage.selection.set({ source: 'x', column: 'name', value: ['inc'] });
    view.layout();
    expect(view.move?.(sum, 'left')?.words()).toContain('inc');
    expect(view.move?.(sum, 'down')?.id).toBe(sum?.id);
  });

  test('arrow keys go on from a task that has ended meanwhile', () => {
    const task = { run: 8, task: 0, worker: 'w1', thread: 't1', start: 1007 };
    stage.recording.take(batchOf('running', [task]));
    view.layout();
    const last = view.move?.(view.move?.(undefined, 'first'), 'last');
    expect(last?.words()).toContain('inc, running');
    stage.recording.take(batchOf('attempts', [{ ...task, status: 'ok', stop: 1008, done: 1008 }]));
    view.layout();
    expect(view.move?.(last, 'left')?.words()).toContain('sum');
  });

  test('arrow keys pass over what is hidden, in a lane and between lanes', () => {
    const hide = (name: string): void =>
      view.above?.querySelector<HTMLElement>(`[aria-label="Hide ${name}"]`)?.click();
    const words = (mark: Mark | undefined): string | undefined => mark?.words().split(',')[0];
    hide('inc');
    view.layout();
    const sum = view.move?.(undefined, 'first');
    expect(words(sum)).toBe('sum');
    expect(view.move?.(sum, 'left')?.id).toBe(sum?.id);
    const fails = view.move?.(sum, 'down');
    expect(words(fails)).toBe('fails');
    hide('sum');
    view.layout();
    expect(view.move?.(fails, 'up')?.id).toBe(fails?.id);
    expect(words(view.move?.(undefined, 'first'))).toBe('fails');
  });

  test('what is pointed at keeps its name when others come before it', () => {
    const { x, y } = at(1005, 0);
    const sum = view.pick?.(x, y);
    const earlier = { run: 7, task: 0, worker: 'w1', thread: 't1', status: 'ok' };
    stage.recording.take(batchOf('attempts', [{ ...earlier, start: 1000.1, stop: 1000.2, done: 1000.3 }]));
    view.layout();
    expect(view.pick?.(x, y)?.id).toBe(sum?.id);
    view.choose?.(sum, { additive: false });
    expect(stage.selection.own('task-stream', 'name')).toEqual(['sum']);
  });

  test('the graph leads from a task to its input and back, and brings it into sight', () => {
    const { x, y } = at(1005, 0);
    const sum = view.pick?.(x, y) as Mark;
    stage.viewport.show(1003.5, 1006.5);
    const inc = view.follow?.(sum, 'inputs') as Mark;
    expect(inc.words()).toContain('inc, finished');
    expect(stage.viewport.start).toBeLessThan(1001.5);
    expect(view.follow?.(inc, 'dependents')?.id).toBe(sum.id);
    expect(view.follow?.(inc, 'inputs')).toBeUndefined();
  });

  test('the legend lists names by time, finds, chooses and hides', () => {
    const names = (): string[] =>
      [...(view.above?.querySelectorAll('.di-legend-name bdi') ?? [])].map(each => each.textContent ?? '');
    expect(names()).toEqual(['fails', 'sum', 'inc']);
    const search = view.search as HTMLInputElement;
    search.value = 'IN';
    search.dispatchEvent(new Event('input'));
    expect(names()).toEqual(['inc']);
    search.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    expect(stage.selection.own('task-stream', 'name')).toEqual(['inc']);
    search.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    expect(names()).toHaveLength(3);
    view.above?.querySelector<HTMLElement>('[aria-label="Hide sum"]')?.click();
    view.layout();
    const { x, y } = at(1005, 0);
    expect(view.pick?.(x, y)).toBeUndefined();
    const show = view.above?.querySelector('[aria-label="Show sum"]');
    // "Show sum, pressed" would be the opposite.
    expect(show?.getAttribute('aria-pressed')).toBeNull();
    expect(show?.closest('.di-struck')).not.toBeNull();
  });

  /** So many names whose tasks all take as long. */
  function addNames(howMany: number): void {
    const names = Array.from({ length: howMany }, (_, at) => ({ task: 10 + at, prefix: `more-${at}` }));
    stage.recording.take(batchOf('graph', names));
    stage.recording.take(
      batchOf(
        'attempts',
        names.map(({ task }) => ran(task, 1010, 1020))
      )
    );
    view.layout();
  }

  const inLegend = (selector: string): HTMLElement | null | undefined => view.above?.querySelector(selector);

  test('names that are hidden are told of wherever the picture goes, and shown again with one press', () => {
    const all = (): HTMLElement | undefined =>
      [...(view.above?.querySelectorAll<HTMLElement>(':scope > button') ?? [])].find(each => !each.hidden);
    const shows = (): string | undefined => (view as TaskStreamView).shows();
    expect([all(), shows(), view.rows?.().note]).toEqual([undefined, '', '']);
    for (const name of ['sum', 'inc']) inLegend(`[aria-label="Hide ${name}"]`)?.click();
    view.layout();
    expect(all()?.textContent).toBe('2 names hidden, show all');
    expect([shows(), view.rows?.().note]).toEqual(['2 names hidden', ': 2 names hidden']);
    all()?.click();
    view.layout();
    expect([all(), shows()]).toEqual([undefined, '']);
    expect(cardAt(1005, 0).title).toBe('sum');
  });

  test('what was hidden in one session is shown in the next', () => {
    inLegend('[aria-label="Hide sum"]')?.click();
    view.layout();
    stage.recording.take(batchOf('about', [{ name: 'started', value: '1001' }]));
    view.layout();
    expect(cardAt(1005, 0).title).toBe('sum');
  });

  test('the legend says how many names it leaves out', () => {
    addNames(500);
    const last = (): string | undefined =>
      [...(view.above?.querySelectorAll('.di-muted') ?? [])][0]?.textContent;
    expect(last()).toBeUndefined();
    inLegend('.di-legend-more')?.click();
    expect(last()).toBe('103 more: search to find them');
    const search = view.search as HTMLInputElement;
    search.value = 'more';
    search.dispatchEvent(new Event('input'));
    expect(last()).toBe('100 more: search to find them');
  });

  test('a name that has the focus stays in the legend and keeps it, where the page is scrolled to', () => {
    document.body.append(view.above as HTMLElement);
    const inc = inLegend('.di-legend-list > :last-child .di-legend-name');
    inc?.focus();
    const focus = vi.spyOn(HTMLElement.prototype, 'focus');
    addNames(20);
    expect(view.above?.querySelectorAll('.di-legend-name')).toHaveLength(13);
    expect(document.activeElement?.textContent).toBe('inc');
    expect(document.activeElement).not.toBe(inc);
    expect(focus.mock.calls).toEqual([[{ preventScroll: true }]]);
    focus.mockRestore();
    view.above?.remove();
  });

  test.each(['click', 'pointerleave'])('a name that is pressed stays the same element until the %s', end => {
    const fails = inLegend('.di-legend-name');
    fails?.dispatchEvent(new PointerEvent('pointerdown', { button: 0, bubbles: true }));
    addNames(5);
    expect(inLegend('.di-legend-name')).toBe(fails);
    if (end === 'click') fails?.click();
    else fails?.parentElement?.parentElement?.dispatchEvent(new Event('pointerleave'));
    expect(stage.selection.own('task-stream', 'name')).toEqual(end === 'click' ? ['fails'] : undefined);
    expect(view.above?.querySelectorAll('.di-legend-name')).toHaveLength(8);
  });

  test.each([1, 1.1, 0.67, 1.33])(
    'each column of cells is a pixel of the screen, which has %s to one of the page',
    ratio => {
      const painted = vi.spyOn(Sheet.prototype, 'paint').mockReturnValue();
      const wide: number[] = [];
      const drawImage = (...[, , , width]: number[]): number => wide.push(width);
      const pen = new Proxy({ drawImage } as unknown as Pen, {
        get: (own, name) => (name === 'drawImage' ? own.drawImage : () => {}),
        set: () => true
      });
      surface.ratio = ratio;
      for (const width of [1000, 1003, 997]) {
        surface.width = width;
        view.layout();
        view.draw(pen);
        const columns = painted.mock.lastCall?.[2] ?? 0;
        expect((wide.at(-1) ?? 0) * ratio).toBeCloseTo(columns);
        expect(columns).toBeGreaterThanOrEqual((view.plot?.().width ?? 0) * ratio);
      }
      painted.mockRestore();
    }
  );

  test('Enter in the search chooses nothing else where nothing matches; without words it clears', () => {
    stage.selection.choose('task-stream', 'name', ['sum'], false);
    const search = view.search as HTMLInputElement;
    const enter = (words: string): readonly string[] | undefined => {
      search.value = words;
      search.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
      return stage.selection.own('task-stream', 'name');
    };
    expect(enter('no such name')).toEqual(['sum']);
    expect(enter('')).toBeUndefined();
  });

  test('names in the legend step back where one is chosen that is not among them', () => {
    const names = Array.from({ length: 12 }, (_, at) => ({ task: 10 + at, prefix: `long-${at}` }));
    stage.recording.take(batchOf('graph', names));
    stage.recording.take(
      batchOf(
        'attempts',
        names.map(({ task }) => ran(task, 1010, 1020))
      )
    );
    const faded = (): number => view.above?.querySelectorAll('.di-faded').length ?? 0;
    view.layout();
    expect(faded()).toBe(0);
    stage.selection.set({ source: 'elsewhere', column: 'name', value: ['inc'] });
    view.layout();
    expect(view.above?.textContent).not.toContain('inc');
    expect(faded()).toBe(12);
  });

  test('the legend has the names of the recording that took the place of another', () => {
    replaceBy({ inc: 'new-inc', sum: 'new-sum', fails: 'new-fails' });
    const names = [...(view.above?.querySelectorAll('.di-legend-name bdi') ?? [])];
    expect(names.map(each => each.textContent)).toEqual(['new-fails', 'new-sum', 'new-inc']);
  });

  test('arrow keys go on from the same task in the recording that took the place of another', () => {
    const sum = view.move?.(view.move?.(undefined, 'first'), 'right');
    expect(sum?.words()).toContain('sum');
    replaceBy({ sum: 'new-sum' }, ATTEMPTS.slice(1));
    expect(view.move?.(sum, 'left')?.words()).toContain('new-sum');
  });

  test('a task that is pointed at stands where the picture has it', () => {
    const { x, y } = at(1005, 0);
    const sum = view.pick?.(x, y) as Mark;
    const before = sum.box.x;
    stage.viewport.show(1003, 1007);
    expect(sum.box.x).not.toBe(before);
    expect(sum.box.x).toBeCloseTo(at(1004, 0).x);
  });

  test('what is hidden goes by the names of the recording that took the place of another', () => {
    view.above?.querySelector<HTMLElement>('[aria-label="Hide sum"]')?.click();
    view.layout();
    replaceBy({ inc: 'sum', sum: 'inc' });
    expect([cardAt(1001.5, 0).title, cardAt(1005, 0).title]).toEqual(['', 'inc']);
  });

  test('colours go by the names of the recording that took the place of another', () => {
    const painted = vi.spyOn(Sheet.prototype, 'paint').mockReturnValue();
    const pen = new Proxy({} as Pen, { get: () => () => {}, set: () => true });
    const colorsOf = (...names: number[]): Uint32Array[] => {
      view.draw(pen);
      const table = painted.mock.lastCall?.[5].tasks as Uint32Array;
      return names.map(name => table.slice((FIRST_NAME + name) * 64).slice(0, 64));
    };
    const [inc, sum] = colorsOf(1, 2);
    replaceBy({ inc: 'sum', sum: 'inc' });
    expect(colorsOf(2, 1)).toEqual([inc, sum]);
    painted.mockRestore();
  });

  test('where a name is new only what has it is drawn anew, in a colour of its own', () => {
    const painted = vi.spyOn(Sheet.prototype, 'paint').mockReturnValue();
    const filled = vi.spyOn(Raster.prototype, 'fill');
    const pen = new Proxy({} as Pen, { get: () => () => {}, set: () => true });
    stage.viewport.show(1003, 1008);
    view.draw(pen);
    filled.mockClear();
    stage.recording.take(batchOf('graph', [{ task: 3, prefix: 'new' }]));
    stage.recording.take(batchOf('attempts', [{ ...ran(3, 1007, 1008), worker: 'w1', thread: 't1' }]));
    view.draw(pen);
    const [cells, , width, , , colors] = painted.mock.lastCall as Parameters<Sheet['paint']>;
    expect(filled.mock.calls.map(([lane, , , from]) => [lane.worker, from > 0.7 * width])).toEqual([
      ['w1', true]
    ]);
    const cell = cells[width - 2];
    expect(cell >>> 6).toBe(FIRST_NAME + 4);
    expect([undefined, colors.background]).not.toContain(colors.tasks[cell]);
    painted.mockRestore();
    filled.mockRestore();
  });

  test('names that were in the legend stay the same elements when more tasks of theirs end', () => {
    const fails = view.above?.querySelector<HTMLElement>('.di-legend-name');
    expect(fails?.title).toContain('2 attempts');
    stage.recording.take(
      batchOf('attempts', [
        { run: 5, task: 2, worker: 'w2', thread: 't1', status: 'ok', start: 1009, stop: 1010 }
      ])
    );
    view.layout();
    expect(view.above?.querySelector('.di-legend-name')).toBe(fails);
    fails?.dispatchEvent(new Event('pointerenter'));
    expect(fails?.title).toContain('3 attempts');
  });

  test('the table has what is in sight and chosen', () => {
    expect(view.rows?.().length).toBe(4);
    stage.selection.set({ source: 'flame-graph', column: 'name', value: ['fails'] });
    view.layout();
    const rows = view.rows?.();
    expect(rows?.length).toBe(2);
    expect(rows?.row(1).map(cell => cell.replaceAll('\u2009', ' '))).toEqual([
      'fails',
      'fails-2',
      'failed',
      '5.0000',
      '3 s',
      '1',
      't1',
      '–'
    ]);
    stage.selection.set({ source: 'memory', column: 'worker', value: ['w1'] });
    expect(view.rows?.().length).toBe(0);
  });

  test('the table of more tasks than a page can hold has the first, and says of how many', () => {
    const many = Array.from({ length: 20_001 }, (_, at) => {
      const start = 1100 + at / 1000;
      return {
        run: 9 + at,
        task: 1,
        worker: `w${1 + (at % 2)}`,
        thread: 't1',
        status: 'ok',
        start,
        stop: start
      };
    });
    stage.recording.take(batchOf('attempts', many));
    view.layout();
    const rows = view.rows?.();
    expect(rows?.length).toBe(20_000);
    expect(rows?.note).toBe(': the first 20,000 of 20,005 tasks in sight');
    stage.selection.set({ source: 'flame-graph', column: 'name', value: ['fails'] });
    view.layout();
    expect(view.rows?.().note).toBe('');
  });

  test('a span narrows it to its tasks', () => {
    stage.selection.set({ source: 'elsewhere', column: 'span', value: ['s'] });
    view.layout();
    expect(cardAt(1001.5, 0).title).toBe('inc');
    expect(cardAt(1005, 0).title).toBe('');
  });

  test('of a task that gave its thread back the card and the legend say so', () => {
    const signs = (): string => view.above?.querySelector('.di-legend-signs')?.textContent ?? '';
    expect(signs()).not.toContain('without a thread');
    expect(cardAt(1005, 0)).not.toHaveProperty('Without a thread');
    stage.recording.take(batchOf('phases', [{ run: 1, action: 'seceded', start: 1004.5, stop: 1005.75 }]));
    view.layout();
    expect(signs()).toContain('without a thread');
    expect(cardAt(1005, 0)['Without a thread']).toBe('1.25 s');
  });

  test('a report tells the signs of its legend ahead of the rows, and none comes or goes with those', () => {
    const signs = (): string => view.above?.querySelector('.di-legend-signs')?.textContent ?? '';
    stage.recording.take(batchOf('about', [{ name: 'signs', value: '["sizing"]' }]));
    view.layout();
    expect(signs()).toContain('finding out sizes');
    stage.recording.take(batchOf('phases', [{ run: 1, action: 'seceded', start: 1004.5, stop: 1005.75 }]));
    view.layout();
    expect(signs()).toContain('finding out sizes');
    expect(signs()).not.toContain('without a thread');
  });

  test('finding out sizes is told from writing to disk, once the metrics tell that none was written', () => {
    const signs = (): string => view.above?.querySelector('.di-legend-signs')?.textContent ?? '';
    const metric = { time: 1009, worker: 'w1', context: 'execute', prefix: 'sum', unit: 'seconds', value: 1 };
    const add = (activity: string): void => {
      stage.recording.take(batchOf('metrics', [{ ...metric, activity }]));
      view.layout();
    };
    stage.recording.take(batchOf('phases', [{ run: 1, action: 'disk-write', start: 1004.5, stop: 1005.75 }]));
    view.layout();
    expect(cardAt(1005, 0)).toHaveProperty('Disk write');
    add('thread-cpu');
    expect(cardAt(1005, 0)['Found out its size']).toBe('1.25 s');
    expect(signs()).toContain('finding out sizes');
    add('disk-write');
    expect(cardAt(1005, 0)).toHaveProperty('Disk write');
    expect(signs()).not.toContain('finding out sizes');
  });

  test('says in words when there is nothing, and why', () => {
    const empty = createStage(recordingOf({}));
    const other = taskStream.create({ ...empty, surface, say: () => {} });
    expect(other.empty()).toContain('No task has finished yet');
    empty.recording.take(batchOf('about', [{ name: 'stopped', value: '5' }]));
    expect(other.empty()).toContain('No task ran while this was recorded');
    expect(view.empty()).toBeUndefined();
  });
});
