import { expect, test } from 'vitest';
import { backgroundOf } from './theme';

test('what is seen through stands on what is behind it', () => {
  document.body.innerHTML =
    '<div style="background: rgb(255, 255, 255)"><p style="background: rgba(0, 0, 0, 0.2)"><b>x</b></p></div>';
  expect(backgroundOf(document.querySelector('b') as Element)).toEqual([204, 204, 204]);
});
