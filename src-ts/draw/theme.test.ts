import { expect, test, vi } from 'vitest';
import { backgroundOf } from './theme';

test.each([
  ['rgb(10, 20, 30)', [10, 20, 30]],
  ['color(srgb 1 0.2 0)', [255, 51, 0]],
  ['color(srgb 0 0 0 / 0.2)', [204, 204, 204]],
  ['color(display-p3 0 0 0)', [255, 255, 255]]
])('%s is read as browsers mean it', (background, color) => {
  vi.spyOn(window, 'getComputedStyle').mockReturnValue({
    backgroundColor: background
  } as CSSStyleDeclaration);
  const element = document.createElement('div');
  expect(backgroundOf(element)).toEqual(color);
  vi.restoreAllMocks();
});

test('what is seen through stands on what is behind it', () => {
  document.body.innerHTML =
    '<div style="background: rgb(255, 255, 255)"><p style="background: rgba(0, 0, 0, 0.2)"><b>x</b></p></div>';
  expect(backgroundOf(document.querySelector('b') as Element)).toEqual([204, 204, 204]);
});
