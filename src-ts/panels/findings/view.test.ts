import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { batchOf, type Row, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { findings } from '../findings';
import { type Mounted, mount } from '../mount';
import type { PanelView, Stage } from '../panel';
import { createStage } from '../stage';

const attempt = (run: number, worker: string): Row => ({
  run,
  task: run,
  worker,
  thread: '1',
  status: 'ok',
  start: run,
  stop: run + 4,
  submitted: 0,
  done: run + 4
});

const row = (code: string, more: Row = {}): Row => ({
  code,
  severity: 'warning',
  title: `<b>${code}</b>`,
  why: 'Each of `inc` is `small.\n\nVery.',
  advice: 'Batch them:\n\n    batches = partition_all(10, items)\n      more\n\nThen again.',
  url: 'https://docs.dask.org/en/stable/best-practices.html',
  tasks: '["inc"]',
  workers: '["a"]',
  start: 1,
  stop: 3,
  cost_thread_seconds: 4,
  cost_seconds: 2,
  evidence: '[["mean", 0.01, "s", 0.1], ["idle", 0.25, "share", null]]',
  edition: 1,
  ...more
});

let stage: Stage;
let mounted: Mounted | undefined;

function show(rows: readonly Row[] | undefined): HTMLElement {
  const recording = recordingOf({
    graph: [
      { task: 1, key: 'inc-1', prefix: 'inc' },
      { task: 2, key: 'dec-2', prefix: 'dec' }
    ],
    attempts: [attempt(1, 'a'), attempt(2, 'b')],
    workers: [
      { worker: 'a', name: 'first' },
      { worker: 'b', name: 'second' }
    ],
    about: [
      { name: 'started', value: '0' },
      { name: 'stopped', value: '9' }
    ],
    ...(rows ? { findings: rows } : {})
  });
  stage = createStage(recording);
  const host = document.createElement('div');
  document.body.append(host);
  mounted = mount(findings, stage, host);
  return mounted.element;
}

const titles = (panel: HTMLElement): HTMLButtonElement[] => [
  ...panel.querySelectorAll<HTMLButtonElement>('.di-finding-title')
];

/** Those that are on the screen. */
const inSight = (panel: HTMLElement): HTMLButtonElement[] =>
  titles(panel).filter(title => !title.closest('.di-past'));

/** Another edition comes. */
function takes(rows: readonly Row[]): void {
  stage.recording.take(batchOf('findings', [...rows]));
  mounted?.view.layout();
}

beforeEach(() => document.body.replaceChildren());
afterEach(() => mounted?.dispose());

describe('the list', () => {
  it('has one line each: severity, title, cost', () => {
    const panel = show([
      row('tiny-tasks', { severity: 'critical' }),
      row('spill', { cost_seconds: Number.NaN })
    ]);
    const [first, second] = titles(panel);
    expect(first.textContent).toMatch(/critical<b>tiny-tasks<\/b>≈ 2\ss, 33\s%/);
    expect(second.querySelector('.di-finding-cost')?.textContent).toBe('');
    expect(panel.querySelector('.di-finding b')).toBeNull();
    expect([...panel.querySelectorAll<HTMLElement>('.di-finding-rest')].every(rest => rest.hidden)).toBe(
      true
    );
  });

  it('says how many there are, and sorts severities by what they mean', () => {
    const panel = show([row('tiny-tasks')]);
    const label = panel.querySelector('.di-finding-list')?.getAttribute('aria-label');
    expect(label).toBe('1 finding, what matters most first');
    mounted?.dispose();
    const severities = ['info', 'critical', 'warning'];
    show(severities.map(severity => row(severity, { severity })));
    const rows = mounted?.view.rows?.();
    expect(severities.map((_, at) => [rows?.row(at)[1], rows?.value?.(at, 1)])).toEqual([
      ['info', 2],
      ['critical', 0],
      ['warning', 1]
    ]);
  });

  it('has bars of one scale, of which the whole is the run', () => {
    const panel = show([row('tiny-tasks'), row('spill', { cost_seconds: 1 }), row('x', { cost_seconds: 0 })]);
    const bars = [...panel.querySelectorAll<HTMLElement>('.di-finding-bar')];
    const widths = bars.map(bar => (bar.firstElementChild as HTMLElement | null)?.style.width);
    // The run took six seconds.
    expect(widths.map(width => width && Number.parseFloat(width))).toEqual([
      expect.closeTo(100 / 3, 3),
      expect.closeTo(100 / 6, 3),
      undefined
    ]);
  });

  it('is cut on screen after a few, until a person asks; paper has all', () => {
    const panel = show(Array.from({ length: 9 }, (_, at) => row(`code-${at}`)));
    expect(inSight(panel)).toHaveLength(5);
    expect(titles(panel)).toHaveLength(9);
    const more = [...panel.querySelectorAll('button')].find(each => each.textContent?.startsWith('Show'));
    expect(more?.textContent).toBe('Show 4 more findings');
    more?.click();
    expect(inSight(panel)).toHaveLength(9);
  });

  it('gives the focus to the first of those that a person asks for', () => {
    const panel = show(Array.from({ length: 8 }, (_, at) => row(`code-${at}`)));
    const more = panel.querySelector<HTMLElement>('.di-findings > .di-button');
    more?.focus();
    more?.click();
    expect(document.activeElement).toBe(titles(panel)[5]);
  });

  it('says that nothing was found, and that nothing was looked for', () => {
    const none = show([row('', { severity: '' })]);
    expect(none.querySelector('.di-finding-none')?.textContent).toContain('Nothing found');
    mounted?.dispose();
    const old = show(undefined);
    expect(old.querySelector('.di-empty')?.textContent).toContain('not been worked out');
    expect(old.querySelector('.di-findings')?.classList).toContain('di-away');
  });

  it('names what could not be looked at', () => {
    const panel = show([row('tiny-tasks'), row('spill', { severity: 'gap', why: 'KeyError' })]);
    expect(titles(panel)).toHaveLength(1);
    expect(panel.querySelector('.di-finding-gaps')?.textContent).toBe('Not looked at: spill (KeyError).');
  });
});

describe('a row', () => {
  it('opens to why, figures, advice with code, and a page', () => {
    const panel = show([row('tiny-tasks')]);
    panel.querySelector<HTMLButtonElement>('.di-finding-line .di-icon')?.click();
    const rest = panel.querySelector('.di-finding-rest') as HTMLElement;
    expect(rest.hidden).toBe(false);
    expect(stage.selection.clauses).toEqual([]);
    const paragraphs = [...rest.querySelectorAll('p')].map(each => each.textContent);
    expect(paragraphs.slice(0, 2)).toEqual(['Each of inc is `small.', 'Very.']);
    expect(rest.querySelector('pre')?.textContent).toBe('batches = partition_all(10, items)\n  more');
    expect([...rest.querySelectorAll('dd')].map(each => each.textContent?.replace(/\s/g, ' '))).toEqual([
      '10 ms (threshold 100 ms)',
      '25 %'
    ]);
    const link = rest.querySelector('a');
    expect(link?.textContent).toBe('docs.dask.org/en/stable/best-practices.html');
    expect([link?.rel, link?.target]).toEqual(['noopener noreferrer', '_blank']);
  });

  it('chooses names, workers and time as one step, and takes them back', () => {
    const panel = show([row('tiny-tasks')]);
    const [title] = titles(panel);
    title.click();
    expect(stage.selection.clauses.map(({ column }) => column)).toEqual(['name', 'worker', 'time']);
    expect(stage.selection.undo()).toBe(true);
    expect(stage.selection.clauses).toEqual([]);
    stage.selection.redo();
    title.click();
    expect(stage.selection.clauses).toEqual([]);
  });

  it('says that it is chosen, and is open while it is', async () => {
    const panel = show([row('tiny-tasks')]);
    const [title] = titles(panel);
    title.click();
    mounted?.view.layout();
    expect(title.getAttribute('aria-pressed')).toBe('true');
    expect(panel.querySelector<HTMLElement>('.di-finding-rest')?.hidden).toBe(false);
    title.click();
    mounted?.view.layout();
    expect(title.getAttribute('aria-pressed')).toBe('false');
  });

  it('has its names, workers and time one by one', () => {
    const panel = show([row('tiny-tasks')]);
    panel.querySelector<HTMLButtonElement>('.di-finding-line .di-icon')?.click();
    const chips = [...panel.querySelectorAll<HTMLButtonElement>('.di-finding-chips .di-chip')];
    expect(chips.map(chip => chip.textContent?.replace(/\s/g, ' '))).toEqual([
      'inc',
      'worker first',
      '1 s – 3 s'
    ]);
    chips[1].click();
    expect(stage.selection.clauses).toEqual([{ source: 'findings', column: 'worker', value: ['a'] }]);
    chips[1].click();
    expect(stage.selection.clauses).toEqual([]);
  });

  it('offers the first ten of many workers, says how many others it concerns, and is the same with more', () => {
    const many = (length: number): string =>
      JSON.stringify(Array.from({ length }, (_, at) => `tcp://10.0.0.1:${at}`));
    const panel = show([row('tiny-tasks', { workers: many(1980) })]);
    const rest = (): HTMLElement | null => panel.querySelector('.di-finding-rest');
    panel.querySelector<HTMLButtonElement>('.di-finding-line .di-icon')?.click();
    // A name and a time beside them.
    expect(panel.querySelectorAll('.di-finding-chips .di-chip')).toHaveLength(12);
    expect(rest()?.textContent).toContain('and 1,970 others');
    takes([row('tiny-tasks', { workers: many(1981), edition: 2 })]);
    expect(rest()?.textContent).toContain('and 1,971 others');
    expect(rest()?.hidden).toBe(false);
  });

  it('stays open when it is worked out anew', () => {
    const panel = show([row('tiny-tasks'), row('spill')]);
    const openers = panel.querySelectorAll<HTMLButtonElement>('.di-finding-line .di-icon');
    openers[1].click();
    takes([row('spill', { edition: 2 }), row('tiny-tasks', { edition: 2 })]);
    const open = [...panel.querySelectorAll('.di-finding')].map(
      each => each.querySelector<HTMLElement>('.di-finding-rest')?.hidden === false
    );
    expect(open).toEqual([true, false]);
  });

  it('keeps the focus where it was while its costs change, and is the same while nothing does', () => {
    const panel = show([row('tiny-tasks'), row('spill')]);
    const rows = (): Element[] => [...panel.querySelectorAll('.di-finding')];
    panel.querySelector<HTMLButtonElement>('.di-finding-line .di-icon')?.click();
    const copy = (): HTMLElement | null => panel.querySelector('.di-code .di-icon');
    copy()?.focus();
    const [first, second] = rows();
    takes([row('tiny-tasks', { edition: 2 }), row('spill', { edition: 2 })]);
    expect(rows()).toEqual([first, second]);
    expect(first.contains(document.activeElement)).toBe(true);
    takes([row('tiny-tasks', { edition: 3, cost_seconds: 3 }), row('spill', { edition: 3 })]);
    expect(rows()[0]).not.toBe(first);
    expect(rows()[1]).toBe(second);
    expect(document.activeElement).toBe(copy());
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Copy code');
    // Another one takes the first place: the row is where it belongs, and so is the focus.
    takes([row('new', { edition: 4 }), row('tiny-tasks', { edition: 4, cost_seconds: 3 })]);
    expect(rows()).toHaveLength(2);
    expect(document.activeElement).toBe(copy());
  });
});

it('is a table as well: severities by their order, titles without marks', () => {
  const some = recordingOf({ findings: [row('spill', { title: 'Much `spill`' }), row('tiny-tasks')] });
  const view: PanelView = findings.create({ ...createStage(some), surface: new Surface(), say: () => {} });
  view.layout();
  const table = view.rows?.();
  expect(table?.columns.map(({ title }) => title).join()).toBe(
    'Finding,Severity,Code,Costs,Thread time,Tasks,Workers,Page'
  );
  expect(table?.length).toBe(2);
  const url = 'https://docs.dask.org/en/stable/best-practices.html';
  expect(table?.row(0)).toEqual([
    'Much spill',
    'warning',
    'spill',
    expect.any(String),
    '4\u2009s',
    'inc',
    'a',
    url
  ]);
  expect([1, 3, 4].map(column => typeof table?.value?.(0, column))).toEqual(['number', 'number', 'number']);
});

it('is told where no task ran, if there is something to tell', () => {
  const about = [{ name: 'stopped', value: '9' }];
  const empty = (rows: readonly Row[]): string | undefined => {
    const made = createStage(recordingOf({ about, findings: rows }));
    const say = (): void => {};
    return findings.create({ ...made, surface: new Surface(), say }).empty();
  };
  expect(empty([row('no-worker')])).toBeUndefined();
  expect(empty([])).toBe('No task ran while this was recorded.');
});

it('keeps what is chosen through another edition, in which it has gone on', () => {
  const panel = show([row('spill'), row('tiny', { tasks: '["dec"]' })]);
  const pressed = (): (string | null)[] => titles(panel).map(title => title.getAttribute('aria-pressed'));
  titles(panel)[0].click();
  mounted?.view.layout();
  expect(pressed()).toEqual(['true', 'false']);
  takes([row('spill', { stop: 5, edition: 2 }), row('tiny', { tasks: '["dec"]', edition: 2 })]);
  expect(pressed()).toEqual(['true', 'false']);
  titles(panel)[0].click();
  expect(stage.selection.clauses).toEqual([]);
});
