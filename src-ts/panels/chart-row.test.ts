import { expect, test } from 'vitest';
import { SvgPen } from '../draw/svg-pen';
import { PLAIN } from '../draw/theme';
import { drawRowFrame, drawUnknown, rowScale } from './chart-row';

const HEIGHT = 50;

/** Where the marks of an axis are named, from above. */
function named(most: number, mirrored: boolean, title = 'Network', height = HEIGHT): number[] {
  const pen = new SvgPen(600, 100);
  const scale = rowScale({ x: 128, y: 20, width: 400, height }, most, mirrored);
  drawRowFrame(pen, scale, title, 'bytes/s', PLAIN, mirrored);
  const texts = [...pen.toString().matchAll(/<text [^>]*y="([\d.]+)"[^>]*>[^<]*B/g)];
  return texts.map(([, y]) => Number(y)).sort((a, b) => a - b);
}

test('an amount above zero is named, however long the name of the row', () => {
  for (let most = 1.01; most < 1100; most *= 1.03) {
    expect(named(most * 2 ** 30, false, 'tcp://127.0.0.1:…', 112).length, `${most} GiB`).toBeGreaterThan(1);
  }
});

test('a tall row has more marks than a flat one', () => {
  expect(named(108 * 2 ** 30, false, 'Memory', 110)).toHaveLength(3);
  expect(named(65 * 2 ** 30, false, 'Memory', 44)).toHaveLength(2);
});

test.each([false, true])('marks of amounts do not touch one another, mirrored: %s', mirrored => {
  for (const most of [0.3, 1, 1.7, 4.9, 9, 23, 47, 480, 1000]) {
    const places = named(most * 2 ** 20, mirrored);
    expect(places.length).toBeGreaterThan(0);
    for (let at = 1; at < places.length; at++) expect(places[at] - places[at - 1]).toBeGreaterThan(13);
  }
});

test('where there is no room beside the plot, unit and parts stand over it', () => {
  const words = (width: number, parts?: readonly { label: string }[]): string[] => {
    const pen = new SvgPen(600, 100);
    const scale = rowScale({ x: 64, y: 20, width, height: HEIGHT }, 5 * 2 ** 20, true);
    drawRowFrame(pen, scale, 'Network', 'bytes/second', PLAIN, true, parts);
    return [...pen.toString().matchAll(/<text [^>]*>([^<]*)/g)].map(([, text]) => text).filter(Boolean);
  };
  const parts = [{ label: 'received' }, { label: 'sent' }];
  expect(words(300, parts)).toEqual(['5\u2009MiB', 'Network per second', '↑ received', '↓ sent']);
  expect(words(160, parts)).toEqual(['5\u2009MiB', 'Network per second']);
  // What stands over it is another's where it has no parts.
  expect(words(300)).toEqual(['5\u2009MiB']);
});

test('a plot says so where nothing is known of the time that is shown', () => {
  const words = (...values: (number[] | undefined)[]): string => {
    const pen = new SvgPen(600, 100);
    // Two processes of four bins each, of which the middle two are in sight.
    const bins = { from: 0, to: 4, step: 1, bins: 4, value: undefined };
    const time = { start: 1, stop: 3, perPixel: 1, width: 2, x: Number, time: Number };
    drawUnknown(pen, { x: 64, y: 20, width: 300, height: 50 }, time, bins, values, PLAIN);
    return pen.toString();
  };
  const none = Number.NaN;
  expect(words([1, none, none, 1], undefined, [none, none, none, 1])).toContain('No sample in this time');
  expect(words([none, none, none, none], [none, none, 0, none])).not.toContain('No sample');
});
