import type { BudgetGroup, Grouping } from '../../core/budget-groups';
import { cellsOf, cellWords } from '../../core/cells';
import { duration } from '../../core/format';
import type { Recording } from '../../core/recording';
import { sourceLines } from '../../core/source-lines';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { FADED } from '../marks';
import type { Shown } from './figures';

/** A group as a line: its name, its parts as a bar, its thread time. */
export interface Line {
  readonly group: BudgetGroup;
  readonly label: string;
  readonly y: number;
}

export const ROW = 20;
/** Room for a group's thread time. */
const VALUES = 70;

/** The lines of a breakdown, and what stands below them; '' for nothing. */
export interface Lines {
  readonly list: readonly Line[];
  readonly more: string;
  readonly y: number;
}

export function placeLines(
  groups: readonly BudgetGroup[],
  more: string,
  labels: ReadonlyMap<string, string>,
  top: number
): Lines {
  const list = groups.map((group, at) => ({
    group,
    label: labels.get(group.key) ?? group.key,
    y: top + at * ROW
  }));
  return { list, more, y: top + list.length * ROW };
}

export function linesHeight({ list, more }: Lines): number {
  return (list.length + (more ? 1 : 0)) * ROW;
}

export function drawLines(
  pen: Pen,
  lines: Lines,
  parts: readonly Shown[],
  chosen: ReadonlySet<string>,
  width: number,
  theme: Theme
): void {
  const room = labelRoom(width);
  const most = Math.max(...lines.list.map(({ group }) => group.seconds), Number.MIN_VALUE);
  const scale = Math.max(10, width - room - VALUES) / most;
  const text = writeWith(pen, theme);
  for (const { group, label, y } of lines.list) {
    const faded = chosen.size > 0 && !group.ids.some(id => chosen.has(id));
    pen.fillStyle = faded || group.key === '' ? theme.muted : theme.text;
    pen.fillText(text.fittedEnds(label, room - 10), 0, y + ROW / 2);
    pen.globalAlpha = faded ? FADED : 1;
    let x = room;
    group.byLayer.forEach((seconds, part) => {
      if (seconds <= 0) return;
      pen.fillStyle = parts[part].color;
      pen.fillRect(x, y + 4, Math.max(seconds * scale, 0.5), ROW - 8);
      x += seconds * scale;
    });
    pen.globalAlpha = 1;
    pen.fillStyle = theme.muted;
    pen.fillText(duration(group.seconds), x + 6, y + ROW / 2);
  }
  if (!lines.more) return;
  pen.fillStyle = theme.accent;
  pen.fillText(lines.more, 0, lines.y + ROW / 2);
}

/** The line at a height; 'more' for the words that stand for the rest. */
export function lineAt(lines: Lines, y: number): Line | 'more' | undefined {
  const found = lines.list.find(line => y >= line.y && y < line.y + ROW);
  return found ?? (lines.more && y >= lines.y && y < lines.y + ROW ? 'more' : undefined);
}

export function boxOf(y: number, width: number): Box {
  return { x: 0, y, width, height: ROW };
}

/** The part of a line's bar at a place, -1 if none. */
export function partOfLine(lines: Lines, { group }: Line, x: number, width: number): number {
  const room = labelRoom(width);
  const most = Math.max(...lines.list.map(each => each.group.seconds), Number.MIN_VALUE);
  let left = (x - room) * (most / Math.max(10, width - room - VALUES));
  if (left < 0) return -1;
  return group.byLayer.findIndex(seconds => {
    left -= seconds;
    return left < 0;
  });
}

function labelRoom(width: number): number {
  return Math.round(Math.min(380, width * 0.38));
}

/** What a group is called in front of a person. */
export function labelsOf(
  recording: Recording,
  groups: readonly BudgetGroup[],
  by: Grouping,
  workerName: (worker: string) => string
): Map<string, string> {
  const names: Readonly<Record<Grouping, (key: string) => string>> = {
    function: key => key,
    worker: workerName,
    cluster: key => key,
    span: key => key,
    cell: by === 'cell' ? cellLabels(recording) : key => key,
    line: key => lineWords(recording, key)
  };
  return new Map(groups.map(({ key }) => [key, key === '' ? NONE[by] : names[by](key)]));
}

/** A cell's number and what it says; of one whose code is not kept, the line that began its work. */
function cellLabels(recording: Recording): (key: string) => string {
  const runs = new Map(cellsOf(recording).map(run => [String(run.execution), run]));
  const table = recording.table('submissions');
  const executions = table.numbers('execution');
  const lines = table.numbers('line');
  return key => {
    const run = runs.get(key);
    if (run) return cellWords(run);
    const row = executions.indexOf(Number(key));
    const text = row < 0 ? '' : sourceLines(recording).text(table.text('file', row), lines[row]);
    return text ? `[${key}] ${text}` : `cell [${key}]`;
  };
}

const NONE: Readonly<Record<Grouping, string>> = {
  function: '(no one task)',
  worker: '(no worker)',
  cluster: '(no one cluster)',
  span: '(no one span)',
  cell: '(no one cell)',
  line: '(no one line)'
};

/** `file.py:12` and what stands there, as far as it is known. */
function lineWords(recording: Recording, key: string): string {
  const at = key.lastIndexOf(':');
  const [path, line] = [key.slice(0, at), Number(key.slice(at + 1))];
  const file = path.split(/[/\\]/).at(-1) ?? path;
  return [`${file}:${line}`, sourceLines(recording).text(path, line)].filter(Boolean).join('  ');
}
