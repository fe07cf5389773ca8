import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  amount,
  amountTicks,
  bytes,
  clock,
  count,
  dateTime,
  duration,
  figures,
  moment,
  range,
  share,
  shortened,
  signed,
  timeTicks
} from './format';

const plain = (text: string): string => text.replaceAll('\u2009', ' ');

test('a change has its sign, and what is missing is said to be', () => {
  expect([1.2, -0.34, 0, Number.NaN].map(value => plain(signed(value)))).toEqual([
    '+1.2 s',
    '−340 ms',
    '0 s',
    '–'
  ]);
});

describe('numbers in words', () => {
  test.each([
    [0.00085, '850 µs'],
    [0.0124, '12.4 ms'],
    [3.416, '3.42 s'],
    [125, '2 min 05 s'],
    [3720, '1 h 02 min'],
    [0.99999, '1 s'],
    [0.0009996, '1 ms'],
    [59.96, '60 s'],
    [3599.7, '1 h 00 min'],
    [4e-9, '4 ns'],
    [0, '0 s'],
    [Number.NaN, '–'],
    [-0.5, '-500 ms'],
    [260000, '3 d 00 h']
  ])('%f seconds are %s', (seconds, words) => {
    expect(plain(duration(seconds))).toBe(words);
  });

  test.each([
    [0, '0 B'],
    [512, '512 B'],
    [1_300_000_000, '1.21 GiB'],
    [1023, '0.999 KiB'],
    [Number.NaN, '–']
  ])('%f bytes are %s', (value, words) => {
    expect(plain(bytes(value))).toBe(words);
  });

  test('shares, counts, figures and amounts', () => {
    expect([0.614, 0.0042, 0, 1].map(value => plain(share(value)))).toEqual([
      '61 %',
      '0.4 %',
      '0 %',
      '100 %'
    ]);
    expect(count(12_400)).toBe('12,400');
    expect([0.01234, 1.5, 12_345, 0].map(figures)).toEqual(['0.0123', '1.5', '12,300', '0']);
    expect(plain(amount(3, 'count'))).toBe('3');
    expect(plain(amount(2.5, 'widgets'))).toBe('2.5 widgets');
  });

  test('long text keeps both its ends, and whole letters', () => {
    expect(shortened('abcdefghij', 5)).toBe('ab…ij');
    expect(shortened('🙂🙂🙂🙂🙂🙂', 3)).toBe('🙂…🙂');
    expect(shortened('short', 5)).toBe('short');
  });
});

describe('ticks', () => {
  test('of time are round, in one unit', () => {
    const { values, label } = timeTicks(0, 19.6, 10);
    expect(values).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    expect(values.slice(0, 2).map(value => plain(label(value)))).toEqual(['0 s', '2 s']);
    const close = timeTicks(9.735, 9.87, 7);
    expect(plain(close.label(close.values[0]))).toBe('9.74 s');
    const long = timeTicks(0, 5000, 8);
    expect(long.values.map(long.label).map(plain)).toEqual([
      '0 s',
      '15 min',
      '30 min',
      '45 min',
      '1 h 00 min',
      '1 h 15 min'
    ]);
  });

  test('of time have their minutes where there are some, however close they are', () => {
    const named = (from: number, to: number): string[] => {
      const { values, label } = timeTicks(from, to, 4);
      return values.map(value => plain(label(value)));
    };
    expect(named(3195.4, 3197)).toEqual(['53 min 15.5 s', '53 min 16.0 s', '53 min 16.5 s', '53 min 17.0 s']);
    expect(named(7195, 7225)).toEqual(['2 h 00 min 00 s', '2 h 00 min 10 s', '2 h 00 min 20 s']);
    expect(named(50, 130)).toEqual(['1 min 00 s', '1 min 20 s', '1 min 40 s', '2 min 00 s']);
  });

  test('of time are four at least, however narrow the axis', () => {
    const onPhone = (length: number): string[] => {
      const { values, label } = timeTicks(0, length, 316 / 110);
      return values.map(value => plain(label(value)));
    };
    expect(onPhone(97)).toEqual(['0 s', '30 s', '60 s', '90 s']);
    expect(onPhone(37.6)).toEqual(['0 s', '10 s', '20 s', '30 s']);
    expect(onPhone(0.54)).toEqual(['0 ms', '200 ms', '400 ms']);
  });

  test('of bytes are binary', () => {
    const { values, label } = amountTicks(0, 3 * 2 ** 30, 3, 'bytes');
    expect(values.map(label).map(plain)).toEqual(['0 GiB', '1 GiB', '2 GiB', '3 GiB']);
  });
});

describe('moments', () => {
  afterEach(() => vi.unstubAllEnvs());

  test.each([
    ['America/New_York', '2026-05-17 08:03:27-04:00'],
    ['Asia/Kolkata', '2026-05-17 17:33:27+05:30'],
    ['UTC', '2026-05-17 12:03:27+00:00'],
    // It has no name, but its offset once more.
    ['Africa/Casablanca', '2026-05-17 13:03:27+01:00']
  ])('with their date are told in the time zone of the person, and in which: %s', (zone, words) => {
    vi.stubEnv('TZ', zone);
    const seconds = Date.UTC(2026, 4, 17, 12, 3, 27, 512) / 1000;
    expect(dateTime(seconds)).toBe(words);
    expect(clock(seconds)).toBe(`${words.slice(11, 19)}.512`);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e20])('that are none have no date: %s', seconds => {
    expect([dateTime(seconds), clock(seconds)]).toEqual(['–', '–']);
  });

  test.each([
    [0, 4, '0 s'],
    [9.73512, 4, '9.7351 s'],
    [59.9996, 3, '1 min 00.000 s'],
    [3186.928, 3, '53 min 06.928 s'],
    [3725, 0, '1 h 02 min 05 s'],
    [-0.00001, 4, '0 s'],
    [-75.5, 1, '−1 min 15.5 s']
  ])('%s', (seconds, digits, words) => {
    expect(plain(moment(seconds, digits))).toBe(words);
  });

  test.each([
    [1, 3, '1 s – 3 s'],
    [0, 12.3, '0 s – 12.3 s'],
    [0.22096, 0.22112, '220.960 ms – 221.120 ms'],
    [12.3412, 12.3423, '12.34120 s – 12.34230 s'],
    [3195.21, 3195.63, '53 min 15.210 s – 53 min 15.630 s'],
    [0, 7200, '0 s – 2 h 00 min']
  ])('a stretch is told as exactly as it is long: %s to %s', (from, to, words) => {
    expect(plain(range(from, to))).toBe(words);
  });
});
