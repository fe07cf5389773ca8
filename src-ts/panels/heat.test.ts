import { expect, test, vi } from 'vitest';
import type { Cached } from '../core/bin-cache';
import { SvgPen } from '../draw/svg-pen';
import { PLAIN, type Theme } from '../draw/theme';
import { scaleOf } from '../draw/viewport';
import { rowScale } from './chart-row';
import { drawHeat } from './heat';

test('a pan moves the image that was made of the bins at hand; other bins, amounts or colours make another, and so does its loss', () => {
  const made = vi.spyOn(document, 'createElement');
  const bins: Cached<unknown> = { from: 0, to: 30, step: 1, bins: 30, value: undefined };
  const values = [new Float32Array(30).fill(5), undefined];
  const draw = (start: number, of = bins, most = 10, theme: Theme = PLAIN): number => {
    made.mockClear();
    const row = rowScale({ x: 100, y: 20, width: 100, height: 40 }, most);
    const scale = scaleOf(start, 0.1, 100);
    drawHeat(new SvgPen(200, 80), row, 'Memory', String, scale, of, values, theme);
    return made.mock.calls.filter(([tag]) => tag === 'canvas').length;
  };
  // The first needs one for the widths of texts as well.
  expect(draw(10)).toBeGreaterThan(0);
  expect([draw(12), draw(8)]).toEqual([0, 0]);
  expect([draw(8, bins, 20), draw(8, { ...bins }), draw(8, bins, 20)]).toEqual([1, 1, 0]);
  expect(draw(8, bins, 20, { ...PLAIN, background: [0, 0, 0] })).toBe(1);
  for (const { value } of made.mock.results) value.dispatchEvent(new Event('contextlost'));
  expect(draw(8, bins, 20, { ...PLAIN, background: [0, 0, 0] })).toBe(1);
  made.mockRestore();
});
