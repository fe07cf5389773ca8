import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { batchOf, type Row, recordingOf } from '../../core/test-recording';
import { type Mounted, mount } from '../mount';
import type { Stage } from '../panel';
import { createStage } from '../stage';
import { whatIf } from '../what-if';

const answer = (question: string, text: string, seconds: number, more: Row = {}): Row => ({
  question,
  text,
  seconds,
  low: seconds,
  high: seconds,
  error: 0.02,
  tasks: '[]',
  ...more
});

const ROWS: readonly Row[] = [
  { question: 'recorded', text: '10 s; at best 4 s.', seconds: 10 },
  { question: 'longest', text: '3 tasks', value: 3, tasks: '["add", "load"]', seconds: 2 },
  { question: 'spread', text: '16 s', value: 4, seconds: 4 },
  { question: 'most', seconds: 5.5 },
  { question: 'calibration', text: 'The recorded run itself is simulated as 10.2 s.', seconds: 10.2 },
  answer('workers', 'With 8 workers instead of 4', 5.3, { value: 8, notes: 'It takes 9 cores.\nSecond.' }),
  answer('faster', 'With `<b>` 2 times faster', 9, { value: 2, tasks: '["<b>"]' }),
  answer('transfers', 'Without transfers', 9.9),
  answer('workers', 'With 2 workers instead of 4', 18, { value: 2 }),
  { question: 'note', text: 'One worker left.' },
  { question: 'gap', text: '2 more questions would take long: `run.what_if(…)` answers any.' }
];

let stage: Stage;
let mounted: Mounted | undefined;

function show(rows: readonly Row[], { stopped = true, tasks = 1 } = {}): HTMLElement {
  const recording = recordingOf({
    graph: [{ task: 1, key: 'b-1', prefix: '<b>' }],
    attempts: Array.from({ length: tasks }, () => ({
      run: 1,
      task: 1,
      worker: 'a',
      thread: '1',
      status: 'ok',
      start: 0,
      stop: 9,
      done: 9
    })),
    about: stopped ? [{ name: 'stopped', value: '9' }] : [],
    ...(rows.length > 0 ? { what_if: rows.map(row => ({ edition: rows.at(-1)?.edition ?? 1, ...row })) } : {})
  });
  stage = createStage(recording);
  const host = document.createElement('div');
  document.body.append(host);
  mounted = mount(whatIf, stage, host);
  mounted.view.layout();
  return mounted.element;
}

const lines = (panel: HTMLElement): HTMLElement[] => [
  ...panel.querySelectorAll<HTMLElement>('.di-what-if-line')
];
const texts = (panel: HTMLElement, part: string): string[] =>
  lines(panel).map(line => line.querySelector(`.di-what-if-${part}`)?.textContent ?? '');

const inCluster = (cluster: string): Row[] =>
  ROWS.slice(0, 6).map(row =>
    row.question === 'recorded' ? { ...row, cluster, text: `${cluster}: ${row.text}` } : { ...row, cluster }
  );

beforeEach(() => document.body.replaceChildren());
afterEach(() => mounted?.dispose());

it('tells each of several clusters apart', () => {
  const panel = show([...inCluster('tcp://a'), ...inCluster('tcp://b')]);
  const told = [...panel.querySelectorAll('.di-what-if-said')].map(each => each.textContent);
  expect(told).toEqual(['tcp://a: 10 s; at best 4 s.', 'tcp://b: 10 s; at best 4 s.']);
  expect(lines(panel)).toHaveLength(10);
  const rows = mounted?.view.rows?.();
  expect([rows?.length, rows?.row(5)[0]]).toEqual([10, 'tcp://b: Recorded']);
});

describe('the lines', () => {
  it('begin with the run and its bounds, then the answers as they are ranked', () => {
    const panel = show(ROWS);
    expect(texts(panel, 'name')).toEqual([
      'Recorded',
      'Longest chain of tasks 3 tasks, most add',
      'Work / threads 16\u2009s / 4',
      'Brent’s bound',
      'With 8 workers instead of 4',
      'With <b> 2 times faster',
      'Without transfers',
      'With 2 workers instead of 4'
    ]);
    expect(texts(panel, 'change')).toEqual([
      '',
      '',
      '',
      '',
      '−47\u2009%',
      '−10\u2009%',
      'same',
      '+80\u2009%'
    ]);
    expect(panel.querySelector('.di-what-if-said')?.textContent).toBe('10 s; at best 4 s.');
  });

  it('have bars of one scale, on which the recorded time is marked', () => {
    const panel = show(ROWS);
    const widths = lines(panel).map(line => line.querySelector<HTMLElement>('.di-sure')?.style.width);
    expect(widths.map(width => Number.parseFloat(width ?? ''))).toEqual(
      [10, 2, 4, 5.5, 5.3, 9, 9.9, 18].map(seconds => expect.closeTo((100 * seconds) / 18, 3))
    );
    const list = panel.querySelector<HTMLElement>('.di-what-if-list');
    expect(Number.parseFloat(list?.style.getPropertyValue('--di-took') ?? '')).toBeCloseTo(1000 / 18, 3);
    expect(lines(panel).map(line => line.classList.contains('di-slower'))).toEqual([
      ...Array(7).fill(false),
      true
    ]);
  });

  it('give a range where the simulation fits badly', () => {
    const bad = answer('workers', 'With 8 workers', 5, { low: 4, high: 6, error: -0.3 });
    const panel = show([ROWS[0], bad]);
    expect(texts(panel, 'time')[1]).toBe('4\u2009s – 6\u2009s');
    expect(texts(panel, 'change')[1]).toBe('−60 to −40\u2009%');
    expect(lines(panel)[1].querySelectorAll('.di-unsure')).toHaveLength(1);
  });

  it('say what one must know of an answer, and what was not asked', () => {
    const panel = show(ROWS);
    const more = [...panel.querySelectorAll('.di-what-if-more')].map(each => each.textContent);
    // What the bounds mean stands there too, a line each.
    expect(more[1]).toBe('No number of threads makes it faster than that');
    expect(more.slice(4)).toEqual(['It takes 9 cores.', 'Second.']);
    const notes = [...panel.querySelectorAll('.di-what-if-note')].map(each => each.textContent);
    expect(notes.slice(1)).toEqual([
      'One worker left.',
      '2 more questions would take long: run.what_if(…) answers any.'
    ]);
  });
});

describe('a click', () => {
  it('chooses the task names that a line is about, and takes them back', () => {
    const panel = show(ROWS);
    const faster = panel.querySelectorAll<HTMLButtonElement>('button.di-what-if-name')[1];
    faster.click();
    expect(stage.selection.own('what-if', 'name')).toEqual(['<b>']);
    mounted?.view.layout();
    expect(faster.getAttribute('aria-pressed')).toBe('true');
    faster.click();
    expect(stage.selection.own('what-if', 'name')).toBeUndefined();
    const chain = panel.querySelectorAll<HTMLButtonElement>('button.di-what-if-name')[0];
    chain.click();
    expect(stage.selection.own('what-if', 'name')).toEqual(['add', 'load']);
  });
});

it('keeps the focus when it is worked out anew', () => {
  const panel = show(ROWS, { stopped: false });
  const button = (): HTMLElement | null => panel.querySelector('button.di-what-if-name');
  const before = button();
  before?.focus();
  stage.recording.take(
    batchOf(
      'what_if',
      ROWS.map(row => ({ edition: 2, ...row }))
    )
  );
  mounted?.view.layout();
  expect(button()).not.toBe(before);
  expect(document.activeElement).toBe(button());
});

it('can be read as a table', () => {
  show(ROWS);
  const rows = mounted?.view.rows?.();
  expect(rows?.length).toBe(8);
  expect(rows?.row(4)).toEqual([
    'With 8 workers instead of 4',
    '5.3\u2009s',
    '−47\u2009%',
    '2\u2009%',
    'It takes 9 cores. Second.'
  ]);
  expect(rows?.value?.(4, 2)).toBeCloseTo(-0.47);
});

it('says that there will be more while a recording grows, and in a page that stays as it is does not', () => {
  const last = (edition: number, stopped: boolean): string | null | undefined => {
    const rows = [ROWS[0], { question: 'gap', text: 'All.', edition }];
    const panel = show(rows, { stopped });
    return [...panel.querySelectorAll('.di-what-if-note')].at(-1)?.textContent;
  };
  expect(last(1, false)).toBe('Worked out anew whenever no task is running.');
  expect(last(1, true)).toBe('All.');
  expect(last(0, false)).toBe('All.');
});

it('says why it is empty', () => {
  show([], { tasks: 0, stopped: false });
  expect(mounted?.view.empty()).toMatch(/No task has finished yet/);
  show([], { stopped: false });
  expect(mounted?.view.empty()).toMatch(/as soon as no task is running/);
  show([]);
  expect(mounted?.view.empty()).toMatch(/not been worked out/);
});

it('shows what it has where nothing could be simulated', () => {
  const panel = show([{ question: 'gap', text: 'No task ended in this recording.' }]);
  expect(lines(panel)).toHaveLength(0);
  expect(panel.querySelector('.di-what-if-note')?.textContent).toBe('No task ended in this recording.');
});

it('shows a question that it does not know, whatever that is called, by its text', () => {
  const panel = show([...ROWS, answer('constructor', 'With another cluster', 7)]);
  expect(texts(panel, 'name').at(-1)).toBe('With another cluster');
  expect(mounted?.view.rows?.()?.length).toBe(9);
});
