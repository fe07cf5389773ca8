import { expect, test } from 'vitest';
import { NOTHING } from '../../core/schema';
import { batchOf, type Row, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { createStage } from '../stage';
import { FlameGraphView } from './view';

const sample = (time: number, stack: number): Row => ({
  process: 'w',
  thread: 't',
  time,
  duration: 1,
  stack,
  run: NOTHING
});

test('a frame that is pointed at stands where it is after a zoom, and when more has come', () => {
  const stage = createStage(
    recordingOf({
      stacks: ['load', 'parse'].map((name, stack) => ({
        stack,
        parent: NOTHING,
        function: name,
        file: 'm.py',
        line: 1,
        first_line: 1
      })),
      samples: [sample(1, 0), sample(2, 1)]
    })
  );
  const surface = new Surface();
  Object.assign(surface, { width: 900, height: 200 });
  const view = new FlameGraphView({ ...stage, surface, say: () => {} });
  view.layout();
  const mark = view.pick(880, 30);
  expect(mark?.box).toMatchObject({ x: 450, width: 450 });
  stage.recording.take(batchOf('samples', [sample(3, 0), sample(4, 0)]));
  view.layout();
  expect(mark?.box.width).toBe(225);
  view.choose(mark);
  expect(mark?.box).toMatchObject({ x: 0, width: 900 });
});

test('whose samples are shown is said, and which way round', () => {
  const stage = createStage(recordingOf({}));
  const view = new FlameGraphView({ ...stage, surface: new Surface(), say: () => {} });
  expect(view.shows()).toBe('Task threads');
  const [, , threads, invert] = view.controls;
  (threads as HTMLSelectElement).value = 'scheduler';
  threads.dispatchEvent(new Event('change'));
  invert.click();
  expect(view.shows()).toBe('Scheduler, callers last');
});

test('without stacks it names both ways of having switched them off', () => {
  const about = [
    { name: 'options', value: '{"profile":false}' },
    { name: 'stopped', value: '9' }
  ];
  const view = new FlameGraphView({
    ...createStage(recordingOf({ about })),
    surface: new Surface(),
    say: () => {}
  });
  expect(view.empty()).toBe('Recorded without stacks (`profile=False` or `--no-profile`).');
});
