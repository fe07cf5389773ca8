import { expect, test } from 'vitest';
import { recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { createStage } from '../stage';
import { Choice } from './choice';

test('a time that is chosen leaves what is drawn of names and attempts as it is', () => {
  const attempts = [{ run: 1, task: 1, worker: 'w', thread: 't', status: 'ok', start: 1, stop: 2, done: 2 }];
  const stage = createStage(recordingOf({ graph: [{ task: 1, key: 'inc-1', prefix: 'inc' }], attempts }));
  const choice = new Choice({ ...stage, surface: new Surface(), say: () => {} }, () => {});
  const version = (): number => {
    choice.update();
    return choice.version;
  };
  stage.selection.set({ source: 'events', column: 'run', value: [1, 2] });
  const before = version();
  const { entries } = choice;
  stage.selection.set({ source: 'axis', column: 'time', value: { start: 1, stop: 2 } });
  expect([version(), choice.entries]).toEqual([before, entries]);
  choice.hide('inc', true);
  expect([version(), choice.isHidden('inc'), choice.hiddenWords]).toEqual([
    before + 1,
    true,
    '1 name hidden'
  ]);
  choice.showAll();
  expect([version(), choice.isHidden('inc')]).toEqual([before + 2, false]);
});
