import { expect, test } from 'vitest';
import { prose } from './prose';

test('code loses the blanks at its end, and long ones within it cost nothing', () => {
  const blanks = ' '.repeat(300_000);
  const [block] = prose(`    a =${blanks}1${blanks}\n    `);
  expect(block.querySelector('code')?.textContent).toBe(`a =${blanks}1`);
});
