import { type Fact, type Finding, isPart } from '../../core/findings';
import { amount, bytes, duration, figures, range, share, THIN } from '../../core/format';

/** A figure of the evidence in its unit. */
export function factWords(value: number, unit: string): string {
  if (unit === 'share') return share(value);
  if (unit === '%') return `${figures(value)}${THIN}%`;
  if (unit === 'bytes/s') return `${bytes(value)}/s`;
  return amount(value, unit === '' ? 'count' : unit);
}

/** `0.0021 s (threshold 0.1 s)`. */
export function evidenceWords({ value, unit, threshold }: Fact): string {
  const told = factWords(value, unit);
  return threshold === undefined ? told : `${told} (threshold ${factWords(threshold, unit)})`;
}

/** Cost that is not worth a word, of the run. */
const NOTHING = 0.001;

/** What it costs in a few words; '' where it costs next to no time. */
export function costWords({ seconds }: Finding, run: number): string {
  if (!(seconds > NOTHING * run)) return '';
  return `≈ ${duration(seconds)}${run > 0 ? `, ${share(seconds / run)}` : ''}`;
}

/** The same in a sentence. */
export function costSentence({ seconds, threadSeconds }: Finding, run: number): string {
  const threads = threadSeconds > 0 ? `${duration(threadSeconds)} of thread time` : '';
  if (!(seconds > 0)) return threads ? `Takes ${threads}.` : '';
  const whole = run > 0 ? ` of the run’s ${duration(run)}` : '';
  return `Costs about ${duration(seconds)}${whole}${threads && `; takes ${threads}`}.`;
}

/** When it was, since the recording's start; '' if it concerns the whole run. */
export function whenWords(finding: Finding, run: number, origin: number): string {
  if (!isPart(finding, run)) return '';
  return range(finding.start - origin, finding.stop - origin);
}
