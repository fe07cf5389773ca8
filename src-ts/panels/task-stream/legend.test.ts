import { expect, test } from 'vitest';
import { recordingOf } from '../../core/test-recording';
import { PLAIN } from '../../draw/theme';
import { createStage } from '../stage';
import { Legend, type LegendHooks } from './legend';

test('a saved picture tells no sign that has the colour of its task', () => {
  const phases = [{ run: 1, action: 'seceded', start: 1, stop: 2 }];
  const hooks = { hiddenWords: '', isHidden: () => false } as unknown as LegendHooks;
  const legend = new Legend(createStage(recordingOf({ phases })), hooks);
  legend.update(PLAIN);
  expect(legend.element.textContent).toContain('without a thread');
  const told = legend.forPicture(PLAIN).map(({ label }) => label);
  expect(told).toEqual(['transfer', 'disk', 'deserialize', 'failed']);
});
