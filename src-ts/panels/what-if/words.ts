import { count, duration, plural, signed, THIN } from '../../core/format';
import type { Possible } from '../../core/what-if';

/** Names of the recorded time and its bounds, and what they are. */
export const BOUND_WORDS = new Map<string, readonly [name: string, meaning: string]>([
  [
    'recorded',
    ['Recorded', 'From the first submission to the last result, without pauses between computations']
  ],
  ['longest', ['Longest chain of tasks', 'No number of threads makes it faster than that']],
  ['spread', ['Work / threads', 'Every thread busy from beginning to end']],
  [
    'most',
    [
      'Brent’s bound',
      'It takes no longer than that where no thread is idle while a task could run, and nothing but tasks takes time'
    ]
  ]
]);

/** A difference that is called none. */
const SAME = 0.02;

/** `18 s`, or `18 s – 24 s` where the simulation fits badly. */
export function timeWords({ seconds, low, high }: Possible): string {
  return high > low ? `${duration(low)} – ${duration(high)}` : duration(seconds);
}

/** `−47 %`, `same`, `−53 to −44 %`. */
export function changeWords({ seconds, low, high }: Possible, recorded: number): string {
  if (!(recorded > 0)) return '';
  const change = seconds / recorded - 1;
  if (!(high > low)) return Math.abs(change) < SAME ? 'same' : `${percent(change)}${THIN}%`;
  const [least, most] = [percent(low / recorded - 1), percent(high / recorded - 1)];
  return least === most ? `${least}${THIN}%` : `${least} to ${most}${THIN}%`;
}

function percent(change: number): string {
  return signed(Math.round(100 * change), String);
}

/** What a bound is made of, in short. */
export function boundWords({ question, seconds, value, tasks }: Possible): string {
  if (question === 'spread') return `${duration(seconds * value)} / ${count(value)}`;
  if (question !== 'longest') return '';
  return `${plural(value, 'task')}, ${value > 1 && tasks.length > 1 ? 'most' : ''} \`${tasks[0]}\``;
}
