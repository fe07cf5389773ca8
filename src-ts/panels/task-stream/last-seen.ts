import { placeWords } from '../../core/functions-of';
import type { Recording } from '../../core/recording';

/** As deep as stacks are sampled. */
const DEEPEST = 200;

/** The calls that an attempt was in when it was last sampled, the innermost first: `load, folder/file.py:12`. */
export function lastSeen(recording: Recording, run: number): string[] {
  const samples = recording.table('samples');
  const stacks = recording.table('stacks');
  const [ids, callers, lines] = (['stack', 'parent', 'line'] as const).map(column => stacks.numbers(column));
  const calls: string[] = [];
  const rowOf = (stack: number): number => ids.indexOf(stack);
  // The samples of one thread come in their order.
  let row = rowOf(samples.numbers('stack')[samples.numbers('run').lastIndexOf(run)]);
  for (; row >= 0 && calls.length < DEEPEST; row = rowOf(callers[row])) {
    const place = placeWords({ file: stacks.text('file', row), line: lines[row] });
    calls.push(`${stacks.text('function', row)}, ${place}`);
  }
  return calls;
}
