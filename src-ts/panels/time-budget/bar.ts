import { share } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { TextWidth } from '../../draw/text-width';
import type { Theme } from '../../draw/theme';
import type { Shown } from './figures';

/** A part of the bar, and where its words stand under it. */
export interface Segment {
  readonly part: Shown;
  readonly box: Box;
}

interface Label {
  /** Undefined for all small parts together. */
  readonly part: Shown | undefined;
  readonly words: string;
  readonly box: Box;
}

/** The whole as one bar, with words under it. */
export interface Bar {
  readonly segments: readonly Segment[];
  readonly labels: readonly Label[];
  /** Lines of labels that have room. */
  readonly lines: number;
  readonly height: number;
}

const TOP = 2;
const HEIGHT = 20;
const LINE = 20;
const SIGN = 14;

/** Smaller parts share one label, if there are several. */
const SMALL = 0.01;

/** With room for so many `lines` of labels, where that is told: more of the smallest share one if need be. */
export function placeBar(
  parts: readonly Shown[],
  whole: number,
  width: number,
  text: TextWidth,
  lines?: number
): Bar {
  const there = whole > 0 ? parts.filter(({ seconds }) => seconds > 0) : [];
  const segments: Segment[] = [];
  let sum = 0;
  for (const part of there) {
    const x = (sum / whole) * width;
    sum += part.seconds;
    segments.push({ part, box: { x, y: TOP, width: (sum / whole) * width - x, height: HEIGHT } });
  }
  const rising = [...there].sort((a, b) => a.seconds - b.seconds);
  let few = rising.filter(({ seconds }) => seconds < SMALL * whole).length;
  let labels = placeLabels(there, rising.slice(0, few), whole, width, text);
  while (lines !== undefined && linesOf(labels) > lines && few < there.length) {
    labels = placeLabels(there, rising.slice(0, ++few), whole, width, text);
  }
  const room = lines ?? linesOf(labels);
  return { segments, labels, lines: room, height: TOP + HEIGHT + 4 + LINE * room };
}

function linesOf(labels: readonly Label[]): number {
  const last = labels.at(-1);
  return last ? (last.box.y - labels[0].box.y) / LINE + 1 : 0;
}

/** Labels line by line, those of `small` parts as one. */
function placeLabels(
  parts: readonly Shown[],
  small: readonly Shown[],
  whole: number,
  width: number,
  text: TextWidth
): Label[] {
  const isNamed = (part: Shown): boolean => small.length < 2 || !small.includes(part);
  const wanted: { part: Shown | undefined; words: string }[] = parts
    .filter(isNamed)
    .map(part => ({ part, words: `${isolated(part.words)} ${share(part.seconds / whole)}` }));
  if (small.length > 1) {
    const rest = sumOf(small, ({ seconds }) => seconds);
    wanted.push({ part: undefined, words: `${small.length} smaller parts ${share(rest / whole)}` });
  }
  const labels: Label[] = [];
  let x = 0;
  let y = TOP + HEIGHT + LINE / 2 + 2;
  for (const { part, words } of wanted) {
    const sign = part ? SIGN : 0;
    const shown = text.fitted(words, width - sign - 2);
    const room = text.of(shown) + sign + 2;
    if (x > 0 && x + room > width) {
      x = 0;
      y += LINE;
    }
    labels.push({ part, words: shown, box: { x, y: y - LINE / 2, width: room, height: LINE } });
    x += room + 16;
  }
  return labels;
}

export function drawBar(pen: Pen, bar: Bar, theme: Theme): void {
  for (const { part, box } of bar.segments) {
    pen.fillStyle = part.color;
    pen.fillRect(box.x, box.y, Math.max(1, box.width), box.height);
  }
  writeWith(pen, theme);
  for (const { part, words, box } of bar.labels) {
    const y = box.y + box.height / 2;
    if (part) {
      pen.fillStyle = part.color;
      pen.fillRect(box.x, y - 5, 9, 9);
    }
    pen.fillStyle = theme.muted;
    pen.fillText(words, box.x + (part ? SIGN : 0), y);
  }
}

/** The segment at a place: in the bar, or by its words. */
export function segmentAt(bar: Bar, x: number, y: number): Segment | undefined {
  if (y < TOP + HEIGHT + 4) {
    // Thin ones can be met too: the nearest edge within two pixels counts.
    const inside = ({ box }: Segment): boolean => x >= box.x && x <= box.x + Math.max(2, box.width);
    return bar.segments.find(inside);
  }
  const label = bar.labels.find(
    ({ box }) => y >= box.y && y < box.y + box.height && x >= box.x && x < box.x + box.width
  );
  return label?.part && bar.segments.find(({ part }) => part === label.part);
}

/** A frame around a segment. */
export function frameSegment(pen: Pen, { box }: Segment, theme: Theme): void {
  pen.strokeStyle = theme.text;
  pen.lineWidth = 1.5;
  pen.strokeRect(box.x + 0.75, box.y + 0.75, Math.max(1, box.width - 1.5), box.height - 1.5);
}

/** Text from right to left in it stays within it. */
function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}
