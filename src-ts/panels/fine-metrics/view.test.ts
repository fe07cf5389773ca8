import { beforeEach, describe, expect, test, vi } from 'vitest';
import { BinMeans } from '../../core/bin-means';
import { batchOf, recordingOf } from '../../core/test-recording';
import type { Box, Pen } from '../../draw/pen';
import { Surface } from '../../draw/surface';
import { SvgPen } from '../../draw/svg-pen';
import { fineMetrics } from '../fine-metrics';
import type { Mark, PanelView, Stage } from '../panel';
import { createStage } from '../stage';

const NAMES = Array.from({ length: 20 }, (_, at) => `name-${at}`);
const PLAIN = { additive: false };

let view: PanelView;

beforeEach(() => {
  const recording = recordingOf({
    metrics: NAMES.map((prefix, at) => ({
      time: 1,
      worker: 'w',
      context: 'execute',
      prefix,
      activity: 'thread-cpu',
      unit: 'seconds',
      span: '',
      value: 20 - at
    }))
  });
  const surface = new Surface();
  surface.width = 400;
  surface.height = 400;
  view = fineMetrics.create({ ...createStage(recording), surface, say: () => {} });
  view.layout();
});

/** The last thing in the picture. */
const last = (): Mark => view.move?.(view.move(undefined, 'first'), 'last') as Mark;

test('all bars of a group are shown when asked for, and few again', () => {
  const few = view.height(400);
  expect(last().words()).toBe('Show 8 more bars');
  view.choose?.(last(), PLAIN);
  view.layout();
  expect(view.height(400)).toBeGreaterThan(few);
  expect(last().words()).toBe('Show fewer bars');
  view.choose?.(last(), PLAIN);
  view.layout();
  expect(view.height(400)).toBe(few);
});

test('activities of P2P shuffles are told in words; the table and the card have what Dask calls them', () => {
  const activity = 'p2p-get-output-noncpu';
  const row = { time: 1, worker: 'w', context: 'execute', prefix: 'unpack', unit: 'seconds', span: '' };
  const recording = recordingOf({ metrics: [{ ...row, activity, value: 2 }] });
  const surface = new Surface();
  const shown = fineMetrics.create({ ...createStage(recording), surface, say: () => {} });
  shown.layout();
  const first = shown.move?.(undefined, 'first') as Mark;
  const { title, groups } = first.card();
  expect(title).toBe('P2P: joining, off CPU');
  expect(groups.flat()).toContainEqual({ label: 'Dask’s name', value: activity });
  expect(shown.rows?.().row(0)).toContain(activity);
});

test('methods of actors are named', () => {
  const row = { time: 1, worker: 'w', context: 'actor', prefix: 'Stock.take', unit: 'seconds', span: '' };
  const recording = recordingOf({ metrics: [{ ...row, activity: 'call', value: 2 }] });
  const surface = new Surface();
  const shown = fineMetrics.create({ ...createStage(recording), surface, say: () => {} });
  shown.layout();
  expect(shown.move?.(undefined, 'first')?.card().title).toBe('actor Stock.take');
});

test('long names that differ at their ends are told apart', () => {
  const row = { time: 1, worker: 'w', context: 'execute', activity: 'thread-cpu', unit: 'seconds', span: '' };
  const metrics = [117, 154].map(number => ({
    ...row,
    prefix: `name_of_one_more_step_number_${number}`,
    value: 1
  }));
  const surface = new Surface();
  surface.width = 400;
  surface.height = 400;
  const shown = fineMetrics.create({ ...createStage(recordingOf({ metrics })), surface, say: () => {} });
  shown.layout();
  const pen = new SvgPen(400, 400);
  shown.draw(pen);
  for (const end of ['117', '154']) expect(pen.toString()).toMatch(new RegExp(`>name_.*…\\S*${end}<`));
});

test('what is pointed at stays the same when others come before it', () => {
  const row = { time: 1, worker: 'w', context: 'execute', activity: 'thread-cpu', unit: 'seconds', span: '' };
  const stage = createStage(recordingOf({ metrics: [{ ...row, prefix: 'inc', value: 2 }] }));
  const shown = fineMetrics.create({ ...stage, surface: new Surface(), say: () => {} });
  shown.layout();
  const inc = shown.move?.(shown.move(undefined, 'first'), 'last') as Mark;
  expect(inc.words()).toContain('inc');
  stage.recording.take(batchOf('metrics', [{ ...row, prefix: 'dec', value: 5 }]));
  shown.layout();
  const strokeRect = vi.fn();
  shown.drawOverlay?.({ strokeRect } as unknown as Pen, inc);
  expect(strokeRect.mock.lastCall?.[1]).toBe((shown.move?.(inc, 'last')?.box.y ?? 0) + 0.5);
  shown.choose?.(inc, PLAIN);
  expect(stage.selection.own('fine-metrics', 'name')).toEqual(['inc']);
});

test('a choice that nothing was measured by is told', () => {
  const row = { time: 1, worker: 'w', context: 'execute', prefix: 'inc', unit: 'seconds', span: '' };
  const stage = createStage(recordingOf({ metrics: [{ ...row, activity: 'thread-cpu', value: 2 }] }));
  const shown = fineMetrics.create({ ...stage, surface: new Surface(), say: () => {} });
  shown.layout();
  expect(shown.controls?.[0].textContent).toBe('');
  stage.selection.set({ source: 'time-budget', column: 'line', value: ['a.py:3'] });
  shown.layout();
  expect(shown.controls?.[0].textContent).toBe('Not measured by attempt or line of code.');
});

describe('over time', () => {
  const moment = (time: number): { worker: string; time: number } => ({ worker: 'w', time });
  const row = {
    worker: 'w',
    context: 'execute',
    prefix: 'inc',
    activity: 'thread-cpu',
    unit: 'seconds',
    span: ''
  };
  const METRICS = [
    { ...row, time: 4, value: 2 },
    { ...row, time: 8, value: 6 },
    { ...row, time: 8, value: 2, prefix: 'dec', activity: 'other' },
    { ...row, time: 8, value: 90, context: 'get-data', prefix: '', activity: 'network' }
  ];
  const shownOf = (...clocks: number[]): { shown: PanelView; stage: Stage } => {
    const attempts = [{ run: 1, task: 1, worker: 'w', start: 0, stop: 8 }];
    const stage = createStage(recordingOf({ attempts, clocks: clocks.map(moment), metrics: METRICS }));
    const surface = new Surface();
    surface.width = 538;
    surface.height = 400;
    const shown = fineMetrics.create({ ...stage, surface, say: () => {} });
    shown.layout();
    return { shown, stage };
  };
  const textsOf = (shown: PanelView): string[] => {
    const pen = new SvgPen(538, 400);
    shown.draw(pen);
    return [...pen.toString().matchAll(/<text [^>]*>([^<]+)/g)].map(([, text]) => text);
  };
  const NOWHERE: Box = { x: 0, y: 0, width: 0, height: 0 };
  /** What is told of the lowest layer at a share of the plot. */
  const toldAt = (shown: PanelView, share: number): Mark | undefined => {
    const { x, y, width, height } = shown.plot?.() ?? NOWHERE;
    return shown.pick?.(x + share * width, y + height - 1);
  };

  test('execution is drawn as what it took each second, period by period', () => {
    const { shown } = shownOf(0, 4, 8);
    expect(shown.ownAxis).toBe(false);
    expect(textsOf(shown).slice(5, 9)).toEqual(['0', '1\u2009s', '2\u2009s', 'Execution/s']);
    expect(toldAt(shown, 0.25)?.words()).toMatch(/^thread-cpu: 500\u2009ms of 500\u2009ms per second at/);
    expect(toldAt(shown, 0.75)?.words()).toMatch(/^thread-cpu: 1\.5\u2009s of 2\u2009s per second at/);
    expect(toldAt(shown, 0.75)?.card().groups[1]).toEqual([{ label: 'other', value: '500\u2009ms' }]);
  });

  test('it is of the functions that are chosen, in all time', () => {
    const { shown, stage } = shownOf(0, 4, 8);
    stage.selection.set({ source: 'fine-metrics', column: 'name', value: ['inc'] });
    stage.selection.set({ source: 'fine-metrics', column: 'time', value: { start: 5, stop: 6 } });
    shown.layout();
    expect(toldAt(shown, 0.75)?.words()).toContain('1.5\u2009s of 1.5\u2009s');
    expect(toldAt(shown, 0.25)?.words()).toContain('500\u2009ms of 500\u2009ms');
  });

  test('a stretch that is marked in it narrows all bars, and functions chosen there the others alone', () => {
    const { shown, stage } = shownOf(0, 4, 8);
    const headings = (): string[] => textsOf(shown).filter(words => /^(Execution by|Send)/.test(words));
    stage.selection.set({ source: 'fine-metrics', column: 'name', value: ['inc'] });
    stage.selection.set({ source: 'fine-metrics', column: 'time', value: { start: 6, stop: 8 } });
    shown.layout();
    expect(headings()).toEqual([
      'Execution by activity, 3\u2009s',
      'Execution by function, 4\u2009s',
      'Send and receive, 45\u2009s'
    ]);
  });

  test('while a run goes on, all of it is gone through once, when it is drawn', () => {
    const { shown, stage } = shownOf(0, 4, 8);
    stage.recording.take(batchOf('clocks', [moment(12)]));
    stage.recording.take(batchOf('metrics', [{ ...row, time: 12, value: 20 }]));
    const add = vi.spyOn(BinMeans.prototype, 'add');
    shown.layout();
    expect(add).not.toHaveBeenCalled();
    expect(textsOf(shown)).toContain('4\u2009s');
    expect(add).toHaveBeenCalledTimes(4);
    add.mockRestore();
  });

  test.each([[], [0, 8]])('it is left out where one period at most is told: clocks at %j', (...clocks) => {
    const { shown } = shownOf(...(clocks as number[]));
    expect(shown.ownAxis).toBe(true);
    expect(textsOf(shown)[0]).toBe('Execution by activity, 10\u2009s');
    expect(shown.pick?.(300, 36)?.words()).toContain('thread-cpu');
  });
});
