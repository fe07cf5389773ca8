import { texts } from './json-list';
import type { Recording } from './recording';
import type { RowOf } from './schema';

/** A time that the run took, could not fall below, or would take otherwise; worked out in Python. */
export interface Possible extends Omit<RowOf<'what_if'>, 'tasks' | 'notes'> {
  readonly tasks: readonly string[];
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
  const rows = recording.table('what_if').all();
  const clusters = new Map<string, Possible[]>();
  for (const row of rows) {
    const all = clusters.get(row.cluster) ?? [];
    clusters.set(row.cluster, all);
    all.push({ ...row, tasks: texts(row.tasks), notes: row.notes.split('\n').filter(Boolean) });
  }
  const isEdition = rows.some(({ edition }) => edition > 0);
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
