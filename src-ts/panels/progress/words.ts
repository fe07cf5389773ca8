import { count, duration, plural } from '../../core/format';
import { leftOf, type Progress } from '../../core/progress';

/** What is not done of some tasks, in words: running, failed, given up, and what waits or never ran. */
export function openWords(
  { running, failed, givenUp, waiting }: Progress,
  isOver: boolean
): readonly string[] {
  const said: readonly (readonly [number, string])[] = [
    [running, isOver ? 'still running at the end' : 'running'],
    [failed, 'failed'],
    [givenUp, 'given up'],
    [waiting, isOver ? 'never ran' : 'waiting']
  ];
  return said.filter(([number]) => number > 0).map(([number, words]) => `${count(number)} ${words}`);
}

/** "1,234 of 3,456 tasks done". */
export function doneWords({ done, total }: Progress): string {
  return done === total && total > 1
    ? `all ${plural(total, 'task')} done`
    : `${count(done)} of ${plural(total, 'task')} done`;
}

/** The least time that is left on so many threads; '' if nothing is, or nobody knows. */
export function leftWords(progress: readonly Progress[], threads: number): string {
  const seconds = leftOf(progress);
  return threads > 0 && seconds > 0
    ? `at least ${duration(seconds / threads)} left on ${plural(threads, 'thread')}`
    : '';
}
