import { listed, texts } from './json-list';
import type { Recording } from './recording';
import type { Clause, TimeRange } from './selection';
import type { Tasks } from './tasks';

/** A figure that a finding rests on. */
export interface Fact {
  readonly name: string;
  /** NaN if unknown. */
  readonly value: number;
  /** s, bytes, bytes/s, count, share (0 to 1), % or ''. */
  readonly unit: string;
  /** What it was compared with. */
  readonly threshold: number | undefined;
}

/** From what matters most. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Something that cost time or puts the run at risk; worked out in Python. */
export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  readonly title: string;
  /** Plain text: paragraphs parted by a blank line; one whose lines all begin with four spaces is code. */
  readonly why: string;
  readonly advice: string;
  readonly url: string;
  readonly tasks: readonly string[];
  readonly workers: readonly string[];
  /** Seconds since the epoch; NaN if it concerns the whole run. */
  readonly start: number;
  readonly stop: number;
  /** NaN where that is not known, or where it is a risk and costs no time. */
  readonly threadSeconds: number;
  readonly seconds: number;
  readonly evidence: readonly Fact[];
}

/** What was looked for and could not be told, in words. */
export interface Gap {
  readonly rule: string;
  readonly why: string;
}

export interface Findings {
  /** In rank order. */
  readonly list: readonly Finding[];
  readonly gaps: readonly Gap[];
}

/** Severity of a row that stands for a rule that failed. */
const GAP = 'gap';

/** The findings of a recording; undefined where they have not been worked out. */
export function findingsOf(recording: Recording): Findings | undefined {
  const table = recording.table('findings');
  // A batch without rows tells that there are none.
  if (table.rows === 0 && !table.has('code')) return undefined;
  const list: Finding[] = [];
  const gaps: Gap[] = [];
  for (const each of table.all()) {
    // The same finding in a later edition is the same.
    const { cost_seconds: seconds, cost_thread_seconds: threadSeconds, edition: _, ...row } = each;
    const { code, severity, why } = row;
    if (severity === GAP) gaps.push({ rule: code, why });
    // A row without a code tells that nothing was found.
    if (severity === GAP || code === '') continue;
    list.push({
      ...row,
      seconds,
      threadSeconds,
      severity: SEVERITIES.find(each => each === severity) ?? 'info',
      title: row.title || code,
      url: webAddress(row.url),
      tasks: texts(row.tasks),
      workers: texts(row.workers),
      evidence: facts(row.evidence)
    });
  }
  return { list, gaps };
}

/** The address if it is one of a web page, else ''. */
function webAddress(text: string): string {
  return /^https?:\/\//i.test(text) ? text : '';
}

function facts(json: string): Fact[] {
  return listed(json).flatMap(each => {
    if (!Array.isArray(each) || typeof each[0] !== 'string') return [];
    const [name, value, unit, threshold] = each as unknown[];
    return {
      name: name as string,
      value: typeof value === 'number' ? value : Number.NaN,
      unit: typeof unit === 'string' ? unit : '',
      threshold: typeof threshold === 'number' ? threshold : undefined
    };
  });
}

/** A finding that lasts for less of the run than this narrows the time. */
const WHOLE = 0.98;

/**
 * What choosing a finding narrows: its task names if any of them ran in its
 * time, its workers unless they are all there are, its time unless that is the
 * whole run.
 */
export function clausesOf(
  finding: Finding,
  source: string,
  tasks: Tasks,
  workers: ReadonlySet<string>,
  run: TimeRange
): Clause[] {
  const clauses: Clause[] = [];
  if (finding.tasks.length > 0 && ranThen(finding, tasks)) {
    clauses.push({ source, column: 'name', value: finding.tasks });
  }
  const concerned = new Set(finding.workers);
  const isAll = [...workers].every(worker => concerned.has(worker));
  if (finding.workers.length > 0 && !isAll) {
    clauses.push({ source, column: 'worker', value: finding.workers });
  }
  const { start, stop } = finding;
  if (isPart(finding, run.stop - run.start)) clauses.push({ source, column: 'time', value: { start, stop } });
  return clauses;
}

/** Whether a finding concerns a part of the run's time, of so many seconds. */
export function isPart({ start, stop }: Finding, run: number): boolean {
  return stop > start && stop - start < WHOLE * run;
}

/** Whether any task of it ran in its time: those that a pause was for ran before and after it. */
function ranThen({ tasks: names, start, stop }: Finding, tasks: Tasks): boolean {
  if (!(stop > start)) return true;
  const wanted = tasks.names.map(name => names.includes(name));
  return tasks.lanes.some(lane => {
    for (let entry = lane.firstAfter(start); entry < lane.length && lane.start[entry] < stop; entry++) {
      if (wanted[lane.name[entry]] && lane.stop[entry] > start) return true;
    }
    return false;
  });
}
