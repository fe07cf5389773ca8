import { beforeEach, expect, test, vi } from 'vitest';
import { batchOf, recordingOf } from '../../core/test-recording';
import type { Pen } from '../../draw/pen';
import { Surface } from '../../draw/surface';
import { SvgPen } from '../../draw/svg-pen';
import { fineMetrics } from '../fine-metrics';
import type { Mark, PanelView } from '../panel';
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
