import { duration, plural, share, shortened } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import type { Box } from '../../draw/pen';
import type { CardLine } from '../../draw/tooltip';
import { worded } from '../marks';
import type { Mark } from '../panel';
import type { BudgetFigures, Shown } from './figures';
import type { Line } from './rows';

/** What a mark stands for. */
export type Subject =
  | { readonly kind: 'part'; readonly part: Shown | undefined }
  | { readonly kind: 'row'; readonly line: Line }
  | { readonly kind: 'more' };

export interface BudgetMark extends Mark {
  readonly subject: Subject;
}

const MOST_NAMES = 5;

/** What arrow keys go on from: a row is one place, whichever of its parts is pointed at. */
export function placeOf({ id, subject }: BudgetMark): Mark['id'] {
  return subject.kind === 'row' ? `row ${subject.line.group.key}` : id;
}

/** A part of the whole. */
export function partMark(found: BudgetFigures, part: Shown, box: Box): BudgetMark {
  const line = `${duration(part.seconds)} (${share(part.seconds / found.whole)})`;
  const names = (): CardLine[] => {
    const told = found.namesOf(found.parts.indexOf(part)).filter(([name]) => name !== part.name);
    const listed = told.slice(0, MOST_NAMES).map(([name, seconds]) => ({
      label: name ? shortened(name, 28) : '(no one task)',
      value: `${duration(seconds)} (${share(seconds / part.seconds)})`
    }));
    const rest = sumOf(told.slice(MOST_NAMES), ([, seconds]) => seconds);
    if (rest > 0) {
      const label = plural(told.length - MOST_NAMES, 'more name');
      listed.push({ label, value: `${duration(rest)} (${share(rest / part.seconds)})` });
    }
    return told.length === 1 && told[0][0] === '' ? [] : listed;
  };
  return {
    id: `part ${part.id}`,
    subject: { kind: 'part', part },
    box,
    card: () => ({
      title: part.words,
      color: part.color,
      groups: [
        [
          { label: 'thread time', value: line },
          { label: 'of', value: duration(found.whole), tone: 'muted' }
        ],
        names(),
        part.meaning ? [{ label: 'what it is', value: part.meaning, tone: 'muted' }] : []
      ]
    }),
    words: () => `${part.words}: ${line}`
  };
}

/** A function, worker, span, cell or line. */
export function lineMark(found: BudgetFigures, line: Line, part: number, box: Box): BudgetMark {
  const { group, label } = line;
  const parts = [...group.byLayer.keys()]
    .filter(each => group.byLayer[each] > 0)
    .sort((a, b) => group.byLayer[b] - group.byLayer[a]);
  const told = (each: number): CardLine => ({
    label: found.parts[each].words,
    value: `${duration(group.byLayer[each])} (${share(group.byLayer[each] / group.seconds)})`
  });
  const own = `${duration(group.seconds)} (${share(group.seconds / found.whole)})`;
  return {
    id: `row ${part} ${group.key}`,
    subject: { kind: 'row', line },
    box,
    card: () => ({
      title: label,
      groups: [
        [{ label: 'thread time', value: own }],
        part >= 0 ? [told(part)] : [],
        parts
          .filter(each => each !== part)
          .slice(0, 8)
          .map(told),
        group.key !== '' && !label.includes(group.key) && group.key.length > 8
          ? [{ label: 'is', value: shortened(group.key, 60), copy: group.key, tone: 'muted' as const }]
          : []
      ]
    }),
    words: () => `${label}: ${own}`
  };
}

/** What stands for the rows that are not shown. */
export function moreMark(words: string, box: Box): BudgetMark {
  return { ...worded('more', words, box), subject: { kind: 'more' } };
}
