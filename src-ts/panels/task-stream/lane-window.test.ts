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

test('where lanes are left out it says in words which are shown', () => {
  const window = new LaneWindow();
  window.fit(8000, 600);
  window.scrollBy(400);
  expect(window.words).toBe('lanes 401–600 of 8,000');
  window.fit(10, 600);
  expect(window.words).toBe('');
});
