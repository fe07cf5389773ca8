import { expect, test } from 'vitest';
import { TextWidth } from '../draw/text-width';
import { fittedLabel } from './worker-label';

const widths = new TextWidth('10px sans-serif');

/** A label in as much room as another text needs. */
function fitted(label: string, like: string): string {
  return fittedLabel(label, widths.of(like), widths);
}

test('what tells workers apart stays where there is little room', () => {
  expect(fitted('worker 7', 'worker 7')).toBe('worker 7');
  expect(fitted('worker 1234', 'worker 7')).toBe('1234');
  expect(fitted('127.0.0.1:44359', '127.…4359')).toMatch(/^127.*….*59$/);
  expect(fitted('worker 1234', '1')).toBe('');
});

test('what is cut fits', () => {
  for (const like of ['1', '12', '12345', '123456789', '12345678901234']) {
    for (const label of ['worker 12', 'ip-10-0-0-12.ec2.internal', 'a']) {
      expect(widths.of(fitted(label, like))).toBeLessThanOrEqual(widths.of(like));
    }
  }
});
