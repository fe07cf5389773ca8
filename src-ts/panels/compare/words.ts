import type { Side, SideName } from '../../core/comparison';
import { count, duration, figures, plural, share, shortened, THIN } from '../../core/format';

/** How much more or less, as a share: `34 % more`; beyond twice as much, how many times. */
export function times(before: number, after: number): string {
  const ratio = after / before;
  if (!Number.isFinite(ratio)) return '';
  if (ratio >= 2) return `${figures(ratio)} times`;
  return share(Math.abs(ratio - 1));
}

export function sideName({ name, side }: Side): string {
  return shortened(name || `side ${side}`, 24);
}

/** `3 runs, 2 workers, 4 threads` */
export function sideFacts({ runs, workers, threads }: Side): string {
  const some = (value: number, one: string): string => `${figures(value)} ${one}${value === 1 ? '' : 's'}`;
  return [runs > 1 ? some(runs, 'run') : '', some(workers, 'worker'), some(threads, 'thread')]
    .filter(Boolean)
    .join(', ');
}

/** What has become of a task name, in words. */
export function nameWords(
  before: SideName | undefined,
  after: SideName,
  sides: readonly [Side, Side]
): string {
  const meanBefore = before?.mean ?? Number.NaN;
  const cpuBefore = after.cpu - after.cpu_change;
  switch (after.verdict) {
    case 'slower':
      return after.mean / meanBefore >= 2
        ? `takes ${times(meanBefore, after.mean)} as long`
        : `slower by ${times(meanBefore, after.mean)}`;
    case 'faster':
      return `takes ${times(meanBefore, after.mean)} less`;
    case 'costlier':
      return `takes ${times(cpuBefore, after.cpu)} ${after.cpu / cpuBefore >= 2 ? 'the' : 'more'} CPU time`;
    case 'cheaper':
      return `takes ${times(cpuBefore, after.cpu)} less CPU time`;
    case 'more':
    case 'fewer':
      return `${plural(after.count, 'task')} instead of ${count(before?.count ?? Number.NaN)}`;
    case 'came':
      return `only in ${sideName(sides[1])}`;
    case 'went':
      return `only in ${sideName(sides[0])}`;
    default:
      return Number.isFinite(after.noise) ? `within the noise, ±${THIN}${duration(after.noise)}` : 'the same';
  }
}
