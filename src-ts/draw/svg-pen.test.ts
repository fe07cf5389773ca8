import { expect, test } from 'vitest';
import { SvgPen } from './svg-pen';

test('an SVG follows the pen, and hostile text stays text', () => {
  const pen = new SvgPen(200, 100);
  pen.fillStyle = 'red';
  pen.save();
  pen.translate(10, 20);
  pen.beginPath();
  pen.rect(0, 0, 50, 50);
  pen.clip();
  pen.globalAlpha = 0.5;
  pen.fillRect(1, 2, 3, 4);
  pen.font = '11px "A & B"';
  pen.textAlign = 'right';
  pen.fillText('</text><script>alert("1")</script>\u0000', 5, 6);
  pen.restore();
  pen.fillRect(0, 0, 1, -5);
  const text = pen.toString();
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
  expect(parsed.querySelector('script')).toBeNull();
  expect(text).not.toContain('\u0000');
  expect(text).toContain('<rect x="11" y="22" width="3" height="4" fill="red" opacity="0.5"/>');
  expect(text).toContain('<rect x="0" y="0" width="1" height="0" fill="red"/>');
  expect(text.match(/<g /g)?.length).toBe(text.match(/<\/g>/g)?.length);
  expect(text).toContain('text-anchor="end"');
  expect(text).toContain('&lt;/text&gt;&lt;script&gt;');
});

test('groups left open are closed', () => {
  const pen = new SvgPen(10, 10);
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, 5, 5);
  pen.clip();
  expect(pen.toString()).toMatch(/<\/g><\/svg>$/);
});
