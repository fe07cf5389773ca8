import { type CallStack, callStackOf } from '../../core/call-stack';
import { callerOf } from '../../core/caller-of';
import {
  bytes,
  clock,
  count,
  duration,
  moment,
  nameOrNone,
  plural,
  share,
  shortened
} from '../../core/format';
import { functionOf, placeWords } from '../../core/functions-of';
import { type Lane, LOST, RUNNING, STATUSES, type Status } from '../../core/lane';
import type { Recording } from '../../core/recording';
import { NOTHING, SECEDED } from '../../core/schema';
import { isSizing, sizersOf } from '../../core/sizing';
import { sourceLines } from '../../core/source-lines';
import { spanName } from '../../core/spans';
import { sumOf } from '../../core/sum-of';
import { runOf } from '../../core/task-run';
import type { Tasks } from '../../core/tasks';
import { workersOf } from '../../core/workers-of';
import type { Card, CardLine } from '../../draw/tooltip';
import { FAILURE } from './cells';

/** Of those that are not called so already. */
const STATUS_WORDS: Readonly<Partial<Record<Status, string>>> = {
  ok: 'finished',
  erred: 'failed',
  retried: 'failed, was tried again',
  killed: 'lost with its worker',
  stolen: 'stolen by another worker',
  lost: 'lost with its worker',
  other: 'ended'
};

export function statusWords(status: number): string {
  const name = STATUSES[status];
  return STATUS_WORDS[name] ?? name;
}

/** Inputs named in a card before it only counts them. */
const MOST_INPUTS = 4;
const KEY_LENGTH = 46;
const CODE_LENGTH = 120;

/** What a card is about. */
export interface Subject {
  readonly tasks: Tasks;
  readonly lane: Lane;
  /** Entry of the lane. */
  readonly entry: number;
  readonly color: string;
  /** Other entries that share the pixel. */
  readonly others: number;
}

/** What stands together; where nothing is known of a thing, there is no line. */
type Lines = (CardLine | undefined)[];

/** Everything that is known about one attempt. */
export function cardOf({ tasks, lane, entry, color, others }: Subject): Card {
  const isRunning = lane.status[entry] === RUNNING;
  const row = lane.row[entry];
  const { recording } = tasks;
  const table = isRunning ? recording.table('running') : recording.table('attempts');
  const task = tasks.taskOf(lane, entry);
  const run = table.numbers('run')[row];
  const name = nameOf(tasks, lane, entry);
  const seen = isRunning ? callStackOf(recording, run) : undefined;
  return {
    title: name,
    color,
    groups: [
      [
        keyLine(tasks, task),
        outcome(tasks, lane, entry, task),
        shortLine('Error', errorText(tasks, run, 'exception'), 160, 'error')
      ],
      span(tasks, lane, entry),
      [seen && sourceLine(recording, `Seen ${duration(recording.end - seen.time)} ago`, seen.calls[0])],
      place(tasks, lane),
      ...(isRunning ? [] : [waits(tasks, row, run), results(tasks, row, run)]),
      relations(tasks, task),
      code(tasks, task, name),
      [
        others > 0
          ? { label: 'Here too', value: plural(others, 'more task'), tone: 'muted' as const }
          : undefined
      ]
    ].map(group => group.filter(each => each !== undefined)),
    text: seen ? traceback(recording, seen) : errorText(tasks, run, 'traceback')
  };
}

/** Its task name, unless that has none, or it has not arrived. */
function nameOf(tasks: Tasks, lane: Lane, entry: number): string {
  return nameOrNone(tasks.names[lane.name[entry]]);
}

/** One line for those who listen. */
export function wordsOf(tasks: Tasks, lane: Lane, entry: number): string {
  const { origin, end } = tasks.recording;
  const name = nameOf(tasks, lane, entry);
  const since = exactly(lane.start[entry] - origin);
  const took = duration(lane.stopBy(entry, end) - lane.start[entry]);
  const isLost = lane.status[entry] === LOST;
  const when = isLost ? `start not known, assigned at ${since}` : `at ${since}, took ${took}`;
  return `${name}, ${statusWords(lane.status[entry])}, ${when}, on worker ${tasks.workerName(lane.worker) || 'not known'}`;
}

export function keyOf(tasks: Tasks, task: number): string {
  return tasks.recording.table('graph').text('key', tasks.graphRow(task));
}

/** The key of a task, whole where it is copied. */
export function keyLine(tasks: Tasks, task: number): CardLine | undefined {
  const key = keyOf(tasks, task);
  return shortLine('Key', key, KEY_LENGTH);
}

function outcome(tasks: Tasks, lane: Lane, entry: number, task: number): CardLine {
  const attempts = tasks.attemptRows(task).reverse();
  const status = lane.status[entry];
  const { length } = attempts;
  // What runs is none of those that have ended, and comes after them.
  const [number, all] =
    status === RUNNING ? [length, ''] : [attempts.indexOf(lane.row[entry]), ` of ${length}`];
  const of = Math.max(length, number + 1) > 1 ? `, attempt ${number + 1}${all}` : '';
  return { label: 'Status', value: statusWords(status) + of, ...(FAILURE[status] > 0 && { tone: 'error' }) };
}

function errorText(tasks: Tasks, run: number, column: 'exception' | 'traceback'): string {
  return tasks.recording.table('errors').text(column, tasks.errorRow(run));
}

/** As Python writes it. */
function traceback(recording: Recording, { calls }: CallStack): string {
  const { text } = sourceLines(recording);
  return [...calls]
    .reverse()
    .map(({ name, file, line }) => {
      const source = text(file, line);
      return `File "${file}", line ${line}, in ${name}${source && `\n  ${source}`}`;
    })
    .join('\n');
}

function span(tasks: Tasks, lane: Lane, entry: number): Lines {
  const { origin, end } = tasks.recording;
  const start = lane.start[entry];
  const stop = lane.stop[entry];
  if (lane.status[entry] === LOST) return lost(tasks, lane, entry);
  const isRunning = lane.status[entry] === RUNNING;
  const took = isRunning ? `${duration(end - start)} so far` : duration(stop - start);
  return [
    { label: 'Took', value: took },
    { label: 'Started', value: at(start, origin) },
    line('Ended', isRunning ? '' : at(stop, origin))
  ];
}

/** Of what died with its worker only the scheduler tells: when it was sent there, if that, and when it was missed. */
function lost({ recording }: Tasks, { row, stop }: Lane, entry: number): CardLine[] {
  const { origin } = recording;
  const assigned = recording.table('attempts').times('assigned')[row[entry]];
  const since = Number.isNaN(assigned) ? '' : `, assigned at ${at(assigned, origin)}`;
  return [
    { label: 'Started', value: `not known${since}` },
    { label: 'Lost', value: at(stop[entry], origin) }
  ];
}

/** A moment of the recording, and the time of day. */
function at(time: number, origin: number): string {
  return `${exactly(time - origin)} (${clock(time)})`;
}

/** A moment with as many digits as tell tasks apart. */
function exactly(seconds: number): string {
  return moment(seconds, Math.abs(seconds) < 10 ? 4 : 3);
}

function place(tasks: Tasks, lane: Lane): Lines {
  const name = tasks.workerName(lane.worker) || 'none';
  const address = name === lane.worker || !lane.worker ? '' : ` (${lane.worker})`;
  const pid = workersOf(tasks.recording).get(lane.worker)?.pid;
  return [
    { label: 'Worker', value: name + address, ...(lane.worker && { copy: lane.worker }) },
    { label: 'Thread', value: lane.thread || 'not known', minor: true },
    line('Process', pid ? String(pid) : '', true)
  ];
}

/** From one moment to the next, in the order in which they come. */
function waits(tasks: Tasks, row: number, run: number): Lines {
  const { recording } = tasks;
  const attempts = recording.table('attempts');
  const executions = recording.table('executions');
  const seen = tasks.executionRow(run);
  const at = (column: 'received' | 'ready' | 'executing' | 'ended'): number =>
    executions.times(column)[seen] ?? Number.NaN;
  const { start, stop } = runOf(tasks, row);
  const took = stop - start;
  const submitted = attempts.times('submitted')[row];
  const ready = attempts.times('ready')[row];
  const assigned = attempts.times('assigned')[row];
  const queued = attempts.numbers('queued')[row] === 1;
  const isOk = attempts.text('status', row) === 'ok';
  const cpu = executions.numbers('cpu')[seen];
  return [
    figure('Submitted', submitted - recording.origin, exactly, true),
    step('Waited for inputs', submitted, ready, took),
    step(queued ? 'In the queue' : 'Held by scheduler', ready, assigned, took),
    step('On its way', assigned, at('received'), took),
    step('Waited for data', at('received'), at('ready'), took),
    step('Waited for thread', at('ready'), at('executing'), took),
    figure('Computed', took, duration, true),
    garbage(tasks, run, took),
    figure('CPU', cpu, () => `${duration(cpu)} (${share(cpu / took)})`),
    step('Until in memory', isOk ? stop : Number.NaN, attempts.times('done')[row], took),
    ...phases(tasks, run, took)
  ];
}

/** What collecting garbage took of it. */
function garbage(tasks: Tasks, run: number, took: number): CardLine | undefined {
  const durations = tasks.recording.table('collections').numbers('duration');
  const seconds = sumOf(tasks.collectionRows(run), row => durations[row]);
  return line('Collected garbage', seconds > 0 ? `${duration(seconds)} (${share(seconds / took)})` : '');
}

/** What happened around it, and for how long it had no thread: by action, the latest first. */
function phases(tasks: Tasks, run: number, took: number): Lines {
  const table = tasks.recording.table('phases');
  const starts = table.times('start');
  const stops = table.times('stop');
  const seconds = new Map<string, number>();
  const worker = tasks.recording.table('attempts').text('worker', tasks.attemptRow(run));
  const sizers = sizersOf(tasks.recording);
  for (const row of tasks.phaseRows(run).reverse()) {
    const told = table.text('action', row);
    const action = isSizing(told, worker, sizers) ? 'Found out its size' : told;
    seconds.set(action, (seconds.get(action) ?? 0) + Math.max(0, stops[row] - starts[row]));
  }
  return [...seconds].slice(0, 6).map(([action, length]) => step(words(action), 0, length, took));
}

function words(action: string): string {
  if (action === SECEDED) return 'Without a thread';
  const text = action.replace('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function results(tasks: Tasks, row: number, run: number): Lines {
  const attempts = tasks.recording.table('attempts');
  const nbytes = attempts.numbers('nbytes')[row];
  const seen = tasks.executionRow(run);
  const rss = tasks.recording.table('executions').numbers('rss')[seen] * 2 ** 20;
  return [
    figure('Result', nbytes, bytes),
    line('Type', attempts.text('typename', row), true),
    figure('Process memory', rss, () => (rss < 0 ? `−${bytes(-rss)}` : `+${bytes(rss)}`), true)
  ];
}

function relations(tasks: Tasks, task: number): Lines {
  const { recording } = tasks;
  const graph = recording.table('graph');
  const row = tasks.graphRow(task);
  const { inputs, dependents } = tasks.degree(task);
  const edges = recording.table('edges').numbers('dependency');
  const names = tasks.inputRows(task, MOST_INPUTS).map(edge => tasks.names[tasks.nameOf(edges[edge])]);
  const listed = [...new Set(names)].join(', ') + (inputs > MOST_INPUTS ? ' …' : '');
  const order = graph.has('order') ? graph.numbers('order')[row] : NOTHING;
  return [
    line('Inputs', inputs > 0 ? `${count(inputs)} (${shortened(listed, 60)})` : ''),
    line('Needed by', dependents > 0 ? plural(dependents, 'task') : '', true),
    line('Order in its graph', order < NOTHING ? count(order) : '', true),
    line('Span', spanName(recording, graph.text('span', row)), true)
  ];
}

/** Where the function stands that ran, and the line that asked for it. */
function code(tasks: Tasks, task: number, name: string): Lines {
  const { recording } = tasks;
  const place = functionOf(recording, name);
  const row = tasks.graphRow(task);
  const caller =
    row < 0 ? undefined : callerOf(recording, recording.table('graph').numbers('submission')[row]);
  return [
    place && line('Function', shortened(place.function, 60)),
    place?.file ? sourceLine(recording, 'Defined in', place) : undefined,
    caller && sourceLine(recording, 'Started by', caller)
  ];
}

function sourceLine(
  recording: Recording,
  label: string,
  place: { readonly file: string; readonly line: number }
): CardLine {
  const { file, line } = place;
  const copy = line > 0 ? `${file}:${line}` : file;
  const text = sourceLines(recording).text(file, line);
  return { label, value: placeWords(place), copy, ...(text && { code: shortened(text, CODE_LENGTH) }) };
}

/** A text that is shortened, and copied whole; nothing without one. */
function shortLine(
  label: string,
  copy: string | undefined,
  most: number,
  tone?: 'error'
): CardLine | undefined {
  return copy ? { label, value: shortened(copy, most), copy, ...(tone && { tone }) } : undefined;
}

function line(label: string, value: string, minor = false): CardLine | undefined {
  return value ? { label, value, minor } : undefined;
}

function figure(
  label: string,
  value: number,
  words: (value: number) => string,
  minor?: boolean
): CardLine | undefined {
  return line(label, Number.isFinite(value) ? words(value) : '', minor);
}

/** A stretch of time; minor where it is short beside what the task took. */
function step(label: string, from: number, to: number, took: number): CardLine | undefined {
  const length = Math.max(0, to - from);
  return figure(label, length, duration, length < Math.max(0.001, took / 100));
}
