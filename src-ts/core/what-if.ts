import { texts } from './json-list';
import type { Recording } from './recording';

/** A time that the run took, could not fall below, or would take otherwise; worked out in Python. */
export interface Possible {
  /** As the table says it: `longest`, `workers`, `faster` … */
  readonly question: string;
  /** In words; `backticks` mark names. */
  readonly text: string;
  /** Workers, threads, how many times as fast or as large; NaN if none. */
  readonly value: number;
  /** Task names that it is about. */
  readonly tasks: readonly string[];
  readonly seconds: number;
  /** Least and most that it would take; the same as `seconds` where the simulation fits. */
  readonly low: number;
  readonly high: number;
  /** How much too long the recorded run is simulated: 0.1 is 10 %. NaN for what is not simulated. */
  readonly error: number;
  readonly notes: readonly string[];
}

/** How much faster the run of a cluster could be. */
export interface WhatIf {
  /** Address of its scheduler; 'local' for local schedulers, '' if unknown. */
  readonly cluster: string;
  readonly recorded: Possible | undefined;
  /** Bounds of its time, in the order of the table. */
  readonly bounds: readonly Possible[];
  /** The recorded run as it is simulated. */
  readonly calibration: Possible | undefined;
  /** The fastest first. */
  readonly answers: readonly Possible[];
  /** What holds for all answers; what was not asked, and why. */
  readonly notes: readonly string[];
  readonly gaps: readonly string[];
  /** Whether it was worked out for a page while the recording grew. */
  readonly isEdition: boolean;
}

const BOUNDS = ['longest', 'spread', 'most'];

/** What the table `what_if` tells of each cluster; none where it has not been worked out. */
export function whatIfsOf(recording: Recording): WhatIf[] {
  const table = recording.table('what_if');
  const columns = ['value', 'seconds', 'low', 'high', 'error'] as const;
  const [value, seconds, low, high, error] = columns.map(name => table.numbers(name));
  const clusters = new Map<string, Possible[]>();
  for (let row = 0; row < table.rows; row++) {
    const cluster = table.text('cluster', row);
    const all = clusters.get(cluster) ?? [];
    clusters.set(cluster, all);
    all.push({
      question: table.text('question', row),
      text: table.text('text', row),
      value: value[row],
      tasks: texts(table.text('tasks', row)),
      seconds: seconds[row],
      low: low[row],
      high: high[row],
      error: error[row],
      notes: table.text('notes', row).split('\n').filter(Boolean)
    });
  }
  const isEdition = table.rows > 0 && table.numbers('edition')[0] > 0;
  return Array.from(clusters, ([cluster, all]) => ({ cluster, isEdition, ...sorted(all) }));
}

/** The rows by what they are. */
function sorted(all: readonly Possible[]): Omit<WhatIf, 'cluster' | 'isEdition'> {
  const first = (question: string): Possible | undefined => all.find(each => each.question === question);
  const said = (question: string): string[] =>
    all.filter(each => each.question === question).map(({ text }) => text);
  const others = new Set(['recorded', 'calibration', 'note', 'gap', ...BOUNDS]);
  return {
    recorded: first('recorded'),
    bounds: BOUNDS.flatMap(name => first(name) ?? []),
    calibration: first('calibration'),
    answers: all.filter(({ question, seconds: took }) => !others.has(question) && took >= 0),
    notes: said('note'),
    gaps: said('gap')
  };
}
