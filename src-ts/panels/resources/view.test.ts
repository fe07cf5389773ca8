import { beforeEach, expect, test } from 'vitest';
import { recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import type { Mark, PanelView, Stage } from '../panel';
import { resources } from '../resources';
import { createStage } from '../stage';

const NAMES = ['a', 'b', 'c'];

let stage: Stage;
let view: PanelView;

beforeEach(() => {
  const samples = (process: string, at: number) =>
    [0, 1, 2].map(time => ({ process, time, cpu: 10, executing: at + 1, ready: 2, waiting: 0 }));
  stage = createStage(recordingOf({ resources: NAMES.flatMap(samples) }));
  const surface = new Surface();
  surface.width = 900;
  view = resources.create({ ...stage, surface, say: () => {} });
  surface.height = view.height(900);
  view.layout();
});

/** The mark of the measure that a card has first, as far down as it is found. */
function markOf(label: string): Mark | undefined {
  for (let y = 0; y < view.height(900); y++) {
    const mark = view.pick?.(600, y);
    if (mark?.card().groups[0][0].label === label) return mark;
  }
  return undefined;
}

test('layers are of all workers: their card has the sums, and a click chooses none of them', () => {
  const tasks = markOf('executing');
  const { title, groups } = tasks?.card() ?? {};
  expect(title).toBe('all workers');
  expect(groups?.[0].map(({ value }) => value)).toEqual(['6', '6', '0']);
  expect(tasks?.words()).toBe('all workers: executing 6, ready 6, waiting 0');
  view.choose?.(tasks, { additive: false });
  expect(stage.selection.clauses).toEqual([]);
});

test('a line is of one worker, which a click chooses', () => {
  const cpu = markOf('CPU');
  expect(NAMES).toContain(cpu?.card().title);
  view.choose?.(cpu, { additive: false });
  expect(stage.selection.own('resources', 'worker')).toEqual([cpu?.card().title]);
});
