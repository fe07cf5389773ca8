import { beforeEach, describe, expect, it } from 'vitest';
import type { Clause } from '../../core/selection';
import { batchOf, type Row, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { SvgPen } from '../../draw/svg-pen';
import type { Mark, PanelView, Stage } from '../panel';
import { createStage } from '../stage';
import { timeBudget } from '../time-budget';

const START = 1000;

const piece = (from: number, to: number, part: string, name = '', more: Row = {}): Row => ({
  worker: 'a',
  thread: '1',
  start: START + from,
  stop: START + to,
  threads: 1,
  part,
  name,
  span: name === 'read' ? 's' : '',
  submission: name === 'read' ? 1 : 2,
  ...more
});

const BUDGET: readonly Row[] = [
  piece(0, 4, 'cpu', 'read'),
  piece(4, 5, 'client'),
  piece(5, 9, 'off-cpu', 'sum'),
  piece(9, 10, 'overhead', 'sum'),
  piece(0, 4, 'inputs', 'read', { worker: 'b' }),
  piece(4, 10, 'scheduler', '', { worker: 'b' })
];

let stage: Stage;
let surface: Surface;
let view: PanelView;

function show(budget: readonly Row[] | undefined, facts: readonly Row[] = []): void {
  const recording = recordingOf({
    about: [{ name: 'started', value: String(START) }, ...facts],
    workers: [
      { worker: 'a', name: 'first', threads: 1, joined: START },
      { worker: 'b', name: 'second', threads: 1, joined: START }
    ],
    graph: [
      { task: 1, key: 'read-1', prefix: 'read', span: 's', submission: 1 },
      { task: 2, key: 'sum-2', prefix: 'sum', submission: 2 }
    ],
    spans: [{ span: 's', name: 'load', path: 'load', parent: '' }],
    submissions: [
      { submission: 1, execution: 4, file: '/home/me/run.py', line: 7 },
      { submission: 2, execution: 0, file: '/home/me/run.py', line: 9 }
    ],
    cells: [{ execution: 4, code: '# read\nread.compute()', start: START, stop: START + 4, status: 'ok' }],
    lines: [{ file: '/home/me/run.py', line: 9, text: 'total.compute()' }],
    attempts: [1, 2].map(run => ({
      run,
      task: run,
      worker: 'a',
      thread: '1',
      status: 'ok',
      submitted: START,
      start: START + (run === 1 ? 0 : 5),
      stop: START + (run === 1 ? 4 : 9),
      done: START + 10
    })),
    ...(budget ? { budget } : {})
  });
  stage = createStage(recording);
  surface = new Surface();
  surface.width = 1000;
  view = timeBudget.create({ ...stage, surface, say: () => {} });
  refresh();
}

function refresh(): void {
  surface.height = view.height(surface.width);
  view.layout();
}

function by(choice: string): void {
  const select = chooser();
  select.value = choice;
  select.dispatchEvent(new Event('change'));
  refresh();
}

/** All marks, in the order of the arrow keys. */
function marks(): Mark[] {
  const found: Mark[] = [];
  for (let mark = view.move?.(undefined, 'first'); mark; mark = view.move?.(mark, 'right')) found.push(mark);
  return found;
}

const plain = (text: string): string => text.replace(/\s/g, ' ');
const words = (): string[] => marks().map(mark => plain(mark.words()));
const aside = (): string => view.controls?.[0].textContent ?? '';
const chooser = (): HTMLSelectElement => view.controls?.[1] as HTMLSelectElement;
const table = (): string[][] => {
  const rows = view.rows?.();
  return Array.from({ length: rows?.length ?? 0 }, (_, row) => (rows?.row(row) ?? []).map(plain));
};

beforeEach(() => show(BUDGET));

describe('the bar', () => {
  it('has every part in words, computing first', () => {
    expect(words()).toEqual([
      'computing on a CPU: 4 s (20 %)',
      'computing off the CPU: 4 s (20 %)',
      'starting and ending tasks: 1 s (5 %)',
      'waiting for read: 4 s (20 %)',
      'waiting for the scheduler: 6 s (30 %)',
      'without tasks: 1 s (5 %)'
    ]);
    expect(table()[3]).toEqual(['waiting for read', 'idle', '4 s', '20 %']);
  });

  it.each([true, false])('is not read out as long as the run goes on: %s', live => {
    const [aside] = timeBudget.create({ ...stage, live, surface, say: () => {} }).controls ?? [];
    expect(aside.hasAttribute('role')).toBe(!live);
  });

  it('follows all that is chosen, its own stretch of time too', () => {
    stage.selection.set({ source: 'x', column: 'worker', value: ['b'] });
    refresh();
    expect(words()).toEqual(['waiting for read: 4 s (40 %)', 'waiting for the scheduler: 6 s (60 %)']);
    stage.selection.set({
      source: 'time-budget',
      column: 'time',
      value: { start: START + 3, stop: START + 5 }
    });
    refresh();
    expect(words()).toEqual(['waiting for read: 1 s (50 %)', 'waiting for the scheduler: 1 s (50 %)']);
  });

  it('says what a choice of names leaves out', () => {
    stage.selection.set({ source: 'x', column: 'name', value: ['read'] });
    refresh();
    expect(words()).toEqual(['computing on a CPU: 4 s (50 %)', 'waiting for read: 4 s (50 %)']);
    expect(plain(aside())).toBe('Left out: 7 s of thread time for which no one task is known.');
  });

  it('says what it tells by name as of the whole run', () => {
    show([...BUDGET, piece(0, 0, 'scheduler', 'read', { threads: 3, span: '', submission: 2 })]);
    const rough = 'Some of this time is shared out among names as in the whole run.';
    stage.selection.set({ source: 'x', column: 'name', value: ['read'] });
    refresh();
    expect(words().at(-1)).toBe('waiting for the scheduler: 3 s (27 %)');
    expect(plain(aside())).toBe('Left out: 4 s of thread time for which no one task is known.');
    stage.selection.set({ source: 'x', column: 'worker', value: ['b'] });
    refresh();
    expect(plain(aside())).toContain(rough);
    stage.selection.clear();
    stage.selection.set({ source: 'x', column: 'worker', value: ['b'] });
    refresh();
    expect(plain(aside())).toBe('');
    by('function');
    expect(plain(aside())).toBe(rough);
  });

  it.each([
    ['name', ['sum']],
    ['worker', ['b']],
    ['run', [1]]
  ] as const)('moves nothing below it when a %s is chosen', (column, value) => {
    const resting = view.height(160);
    stage.selection.set({ source: 'x', column, value } as Clause);
    expect(view.height(160)).toBe(resting);
    view.layout();
    expect([view.below?.hidden, view.ownAxis]).toEqual([true, false]);
  });

  it('gives a choice no more lines of words than the whole', () => {
    const short = ['cpu', 'off-cpu', 'overhead', 'disk', 'data', 'serialize'];
    show([piece(0, 9, 'cpu', 'read'), ...short.map(part => piece(9, 9.01, part, 'sum'))]);
    const resting = view.height(300);
    stage.selection.set({ source: 'x', column: 'name', value: ['sum'] });
    expect(view.height(300)).toBe(resting);
    const pen = new SvgPen(300, resting);
    view.draw(pen);
    expect(pen.toString()).toContain('smaller parts');
  });

  it('chooses the name that was waited for', () => {
    const waiting = marks().find(mark => mark.words().startsWith('waiting for read'));
    view.choose?.(waiting, { additive: false });
    expect(stage.selection.own('time-budget', 'name')).toEqual(['read']);
    view.choose?.(waiting, { additive: false });
    expect(stage.selection.own('time-budget', 'name')).toBeUndefined();
  });
});

describe('over time', () => {
  it('begins with the recording, also where a bin began sooner', () => {
    stage.viewport.setExtent(START + 0.01, START + 10);
    const { x, y, height } = view.plot?.() ?? { x: 0, y: 0, height: 1 };
    const card = view.pick?.(x + 0.5, y + height - 1)?.card();
    expect(card?.groups.flat().find(({ label }) => label === 'between')?.value).toMatch(/^0/);
  });

  it('stands on the shared axis', () => {
    expect(view.ownAxis).toBe(false);
    const plot = view.plot?.();
    const x = (time: number): number =>
      (plot?.x ?? 0) + stage.viewport.scale(plot?.width ?? 1, 1).x(START + time);
    const low = (plot?.y ?? 0) + (plot?.height ?? 0) - 4;
    expect(view.pick?.(x(2), low)?.card().title).toBe('computing on a CPU');
    expect(view.pick?.(x(7), low)?.card().title).toBe('computing off the CPU');
    expect(view.pick?.(x(7), (plot?.y ?? 0) + 5)?.card().title).toBe('waiting for the scheduler');
  });

  it('can be drawn as a picture', () => {
    const pen = new SvgPen(1000, surface.height);
    view.draw(pen);
    expect(pen.toString()).toContain('waiting for the scheduler');
  });
});

describe('shared out', () => {
  it('is offered by what there is', () => {
    const offered = [...chooser().options].map(({ value }) => value);
    expect(offered).toEqual(['time', 'function', 'worker', 'span', 'cell', 'line']);
  });

  it.each([
    ['function', ['sum: 5 s (25 %)', 'read: 8 s (40 %)', '(no one task): 7 s (35 %)']],
    ['worker', ['first: 10 s (50 %)', 'second: 10 s (50 %)']],
    ['span', ['load: 8 s (40 %)', '(no one span): 12 s (60 %)']],
    ['cell', ['[4] read.compute() (4 s): 8 s (40 %)', '(no one cell): 12 s (60 %)']],
    ['line', ['run.py:7: 8 s (40 %)', 'run.py:9 total.compute(): 12 s (60 %)']]
  ])('by %s', (choice, wanted) => {
    by(choice);
    expect(view.ownAxis).toBe(true);
    expect(
      words()
        .slice(6)
        .map(text => text.replace(/ +/g, ' '))
        .sort()
    ).toEqual([...wanted].sort());
  });

  it.each([
    ['function', 'read', 'name', ['read']],
    ['worker', 'second', 'worker', ['b']],
    ['span', 'load', 'span', ['s']],
    ['cell', '[4]', 'cell', [4]],
    ['line', 'run.py:9', 'line', ['/home/me/run.py:9']]
  ] as const)('chooses by %s', (choice, label, column, value) => {
    by(choice);
    const mark = marks().find(each => each.words().startsWith(label));
    view.choose?.(mark, { additive: false });
    expect(stage.selection.clauses).toEqual([{ source: 'time-budget', column, value }]);
    view.choose?.(mark, { additive: false });
    expect(stage.selection.clauses).toEqual([]);
  });

  it('goes on by keys from the row whose bar was pointed at', () => {
    by('function');
    const rows = marks();
    const row = rows.findIndex(mark => mark.words().startsWith('sum'));
    const { y, height } = rows[row].box;
    const pointed = view.pick?.(400, y + height / 2);
    expect(pointed?.id).not.toBe(rows[row].id);
    expect(view.move?.(pointed, 'down')?.id).toBe(rows[row + 1].id);
  });

  it('shows all rows when asked to, and few again', () => {
    show(Array.from({ length: 30 }, (_, at) => piece(0, 1 + at, 'cpu', `name-${at}`)));
    by('function');
    const more = marks().at(-1);
    expect(more?.words()).toBe('Show 18 more rows');
    view.choose?.(more, { additive: false });
    refresh();
    expect(marks()).toHaveLength(1 + 30 + 1);
    view.choose?.(marks().at(-1), { additive: false });
    refresh();
    expect(marks()).toHaveLength(1 + 12 + 1);
  });
});

describe('without rows', () => {
  it('is what the page can tell by itself, and says so', () => {
    show(undefined, [{ name: 'stopped', value: String(START + 10) }]);
    expect(words()).toEqual(['computing: 8 s (40 %)', 'idle: 12 s (60 %)']);
    expect(view.below?.textContent).toContain('not been worked out for this file');
    expect(chooser().hidden).toBe(true);
  });

  it('says that they come while the run goes on', () => {
    show(undefined);
    expect(view.below?.textContent).toContain('is being worked out');
  });

  it('is so for single attempts too', () => {
    stage.selection.set({ source: 'x', column: 'run', value: [1] });
    refresh();
    expect(words()[0]).toContain('computing: 4 s');
    expect(aside()).toContain('single attempts');
  });
});

describe('a budget that is told ahead of its rows', () => {
  const ahead = {
    rows: BUDGET.length,
    start: START,
    stop: START + 10,
    sums: [
      ['cpu', '', 4],
      ['client', '', 1],
      ['off-cpu', '', 4],
      ['overhead', '', 1],
      ['inputs', '', 0],
      ['inputs', 'read', 4],
      ['scheduler', '', 6]
    ]
  };
  const busy = () => surface.element.getAttribute('aria-busy');

  beforeEach(() => show(undefined, [{ name: 'budget', value: JSON.stringify(ahead) }]));

  it('stands as it will with them, and says that more is to come', () => {
    expect(busy()).toBe('true');
    const before = { words: words(), height: view.height(1000), ownAxis: view.ownAxis, table: table() };
    expect(view.below?.hidden).toBe(true);
    view.draw(new SvgPen(1000, surface.height));
    stage.recording.take(batchOf('budget', BUDGET));
    refresh();
    expect(busy()).toBe('false');
    expect({ words: words(), height: view.height(1000), ownAxis: view.ownAxis, table: table() }).toEqual(
      before
    );
  });

  it('keeps its sums and says why there is no more where the rows are damaged', () => {
    const before = words();
    stage.recording.cut();
    refresh();
    expect(busy()).toBe('false');
    expect(words()).toEqual(before);
    expect(view.ownAxis).toBe(true);
    expect(view.below?.textContent).toContain('damaged part');
  });

  it('says nothing of a choice before they are there', () => {
    stage.selection.set({ source: 'x', column: 'worker', value: ['b'] });
    refresh();
    expect(words()).toEqual([]);
    stage.recording.take(batchOf('budget', BUDGET));
    refresh();
    expect(words()).toEqual(['waiting for read: 4 s (40 %)', 'waiting for the scheduler: 6 s (60 %)']);
  });
});
