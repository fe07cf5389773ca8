import { expect, test } from 'vitest';
import { LaneWindow } from './lane-window';

test('what is left over of a scroll keeps no lane from being shown', () => {
  const window = new LaneWindow();
  window.fit(100, 30);
  window.scrollBy(20.75);
  window.reveal(40);
  expect(window.top + window.shown).toBe(41);
  window.scrollBy(0.75);
  window.reveal(5);
  expect(window.top).toBe(5);
});
