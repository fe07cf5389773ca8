/** Numbers and times in words: at most three significant figures, a thin space before the unit. */

/** Thin space. */
export const THIN = '\u2009';

/** Where a figure is missing. */
export const MISSING = '–';

/** A whole number with its thousands apart. Not by `Intl`, whose tables take longer to load than a first picture. */
function grouped(whole: number): string {
  return whole.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Three significant figures, without exponent: 0.0123, 1.23, 123, 12,300. */
export function figures(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  const size = Math.abs(value);
  if (size >= 999.5) return grouped(Number(value.toPrecision(3)));
  if (size !== 0 && size < 1e-6) return value.toExponential(2);
  const digits = size === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Number(size.toPrecision(3)))));
  return trimmed(value.toFixed(Math.min(digits, 8)));
}

function trimmed(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** An exact whole number: 12,400. */
export function count(value: number): string {
  return Number.isFinite(value) ? grouped(Math.round(value)) : MISSING;
}

/** A length of time: 850 µs, 12.4 ms, 3.42 s, 2 min 05 s, 1 h 02 min. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return MISSING;
  const size = Math.abs(seconds);
  if (size === 0) return `0${THIN}s`;
  if (size < 0.9995e-6) return `${figures(seconds * 1e9)}${THIN}ns`;
  if (size < 0.9995e-3) return `${figures(seconds * 1e6)}${THIN}µs`;
  if (size < 0.9995) return `${figures(seconds * 1e3)}${THIN}ms`;
  if (size < 99.95) return `${figures(seconds)}${THIN}s`;
  const sign = seconds < 0 ? '−' : '';
  const whole = Math.round(size);
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)}${THIN}min ${two(whole % 60)}${THIN}s`;
  const minutes = Math.round(size / 60);
  if (minutes < 48 * 60) return `${sign}${Math.floor(minutes / 60)}${THIN}h ${two(minutes % 60)}${THIN}min`;
  const hours = Math.round(size / 3600);
  return `${sign}${Math.floor(hours / 24)}${THIN}d ${two(hours % 24)}${THIN}h`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Bytes, binary: 512 B, 1.21 GiB. */
export function bytes(value: number): string {
  const [scaled, unit] = scaledBytes(value);
  return Number.isFinite(value) ? `${figures(scaled)}${THIN}${unit}` : MISSING;
}

function scaledBytes(value: number): [number, string] {
  let index = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 999.5 && index < BYTES.length - 1) {
    scaled /= 1024;
    index++;
  }
  return [scaled, BYTES[index]];
}

/** A share of 1: 61 %, 0.4 %, < 0.1 %. */
export function share(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  const percent = value * 100;
  const size = Math.abs(percent);
  if (size === 0 || size >= 0.95) return `${Math.round(percent)}${THIN}%`;
  return `${size < 0.1 ? `<${THIN}0.1` : figures(Number(percent.toPrecision(1)))}${THIN}%`;
}

/** Any amount in a unit of the fine metrics: seconds, bytes, count or a user's own. */
export function amount(value: number, unit: string): string {
  if (unit === 'seconds' || unit === 's') return duration(value);
  if (unit === 'bytes' || unit === 'B') return bytes(value);
  if (unit === 'count') return Number.isInteger(value) ? count(value) : figures(value);
  return unit ? `${figures(value)}${THIN}${unit}` : figures(value);
}

/** A moment in the person's time zone: 2026-05-17T14:03:27.512Z; '' where it is none. */
function inZone(epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000);
  const moved = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return Number.isNaN(moved.getTime()) ? '' : moved.toISOString();
}

/** A moment of the day, in the person's time zone, to the millisecond: 14:03:27.512. */
export function clock(epochSeconds: number): string {
  return inZone(epochSeconds).slice(-13, -1) || MISSING;
}

/** A moment with its date and the person's time zone: 2026-05-17 14:03:27+02:00. */
export function dateTime(epochSeconds: number): string {
  const zone = String(new Date(epochSeconds * 1000)).replace(/.*?GMT(...)(..).*/, '$1:$2');
  const told = inZone(epochSeconds).slice(0, -5).replace('T', ' ');
  return told ? told + zone : MISSING;
}

/** A moment since the recording's start, to so many digits: 9.735 s, 53 min 15.5 s, 1 h 02 min 05 s. */
export function moment(seconds: number, digits: number): string {
  const size = Number(Math.abs(seconds).toFixed(digits));
  const sign = seconds < 0 && size > 0 ? '−' : '';
  const minutes = Math.floor(size / 60);
  const rest = `${(size % 60).toFixed(size > 0 ? digits : 0)}${THIN}s`;
  if (minutes === 0) return sign + rest;
  const hours = minutes < 60 ? '' : `${Math.floor(minutes / 60)}${THIN}h `;
  const padded = size % 60 < 10 ? `0${rest}` : rest;
  return `${sign}${hours}${hours ? two(minutes % 60) : minutes}${THIN}min ${padded}`;
}

/** From one moment to another, as exact as tells them apart: 53 min 15.2 s – 53 min 15.6 s. */
export function range(from: number, to: number): string {
  const { label } = timeTicks(from, to, 100);
  return [from, to].map(value => label(value).replace(/\.0+(?!\d)/, '')).join(' – ');
}

/** Long text cut in its middle, so that both ends can be told apart. */
export function shortened(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  const tail = Math.max(0, most - 1 - head);
  return `${letters.slice(0, head).join('')}…${tail ? letters.slice(-tail).join('') : ''}`;
}

/** A task name, or what stands for one that is empty. */
export function nameOrNone(name: string): string {
  return name || '(no name)';
}

/** A change with its sign: `+1.2 s`, `−340 ms`. */
export function signed(value: number, words: (size: number) => string = duration): string {
  if (!Number.isFinite(value)) return MISSING;
  return `${value < 0 ? '−' : value > 0 ? '+' : ''}${words(Math.abs(value))}`;
}

/** "1 task", "12 tasks". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Where an axis is marked, and how the marks are named: one scale for all of them. */
export interface Ticks {
  readonly values: readonly number[];
  readonly label: (value: number) => string;
}

/** Round steps of time in seconds, beyond which whole days follow. */
const TIME_STEPS = [10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** Fewer marks than this do not tell how time runs, however narrow the axis is. */
const LEAST_MARKS = 4;

/** Marks for a time axis, as many as are wanted or a few more; values in seconds since the recording's start. */
export function timeTicks(from: number, to: number, wanted: number): Ticks {
  const rough = (to - from) / Math.max(LEAST_MARKS, wanted);
  const step =
    rough > 5 ? (TIME_STEPS.find(each => each >= rough) ?? Math.ceil(rough / 86400) * 86400) : round(rough);
  const unit = step >= 60 ? undefined : (UNITS.find(([size]) => Math.abs(to) >= size) ?? UNITS[3]);
  return {
    values: multiples(from, to, step),
    label: value => {
      if (!unit) return minutes(value, step);
      return to < 120 ? scaledLabel(value, step, unit) : moment(value, digitsOf(step));
    }
  };
}

const UNITS: readonly (readonly [number, string])[] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns']
];

function digitsOf(step: number): number {
  return Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
}

function scaledLabel(value: number, step: number, [size, unit]: readonly [number, string]): string {
  const text = (value / size).toFixed(digitsOf(step / size));
  return `${Number(text) === 0 ? '0' : text}${THIN}${unit}`;
}

function minutes(value: number, step: number): string {
  const whole = Math.round(value);
  if (step >= 86400) return `${Math.round(whole / 86400)}${THIN}d`;
  if (whole >= 3600)
    return `${Math.floor(whole / 3600)}${THIN}h ${two(Math.floor((whole % 3600) / 60))}${THIN}min`;
  return whole === 0 ? `0${THIN}s` : `${Math.floor(whole / 60)}${THIN}min`;
}

/** The next of 1, 2, 5 times a power of ten. */
function round(rough: number): number {
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 + 1e-9 ? 1 : lead <= 2 + 1e-9 ? 2 : lead <= 5 + 1e-9 ? 5 : 10) * power;
}

function multiples(from: number, to: number, step: number): number[] {
  const values: number[] = [];
  const first = Math.ceil(from / step - 1e-9) || 0;
  for (let index = first; index * step <= to + step * 1e-9 && values.length < 1000; index++)
    values.push(index * step);
  return values;
}

/** Marks for amounts in a unit, from 0 or below up to `to`; bytes get binary steps. */
export function amountTicks(from: number, to: number, most: number, unit: string): Ticks {
  const [size, name] = scaleOf(Math.max(Math.abs(from), Math.abs(to)), unit);
  const wanted = round((to - from) / Math.max(1, most) / size) * size;
  const step = unit === 'count' ? Math.max(1, wanted) : wanted;
  return {
    values: multiples(from, to, step),
    label: value => figures(value / size) + (name && THIN + name)
  };
}

/** What amounts in a unit are divided by so that the largest reads well, and the unit then. */
function scaleOf(largest: number, unit: string): readonly [number, string] {
  if (unit === 'seconds') return UNITS.find(([size]) => largest >= size) ?? UNITS[0];
  if (unit !== 'bytes' && !unit.startsWith('bytes/')) return [1, unit === 'count' ? '' : unit];
  const [scaled, name] = scaledBytes(largest);
  return [largest / (scaled || 1) || 1, name + unit.slice('bytes'.length).replace('/second', '/s')];
}
