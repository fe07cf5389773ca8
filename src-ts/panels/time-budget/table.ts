import type { BudgetGroup } from '../../core/budget-groups';
import { duration, share } from '../../core/format';
import type { TableRows } from '../panel';
import { number, rowsOf, text } from '../things';
import type { Shown } from './figures';

/** Every part with its thread time. */
export function partsTable(parts: readonly Shown[], whole: number): TableRows {
  return rowsOf(
    parts.filter(({ seconds }) => seconds > 0),
    [
      text('Part', ({ words }) => words),
      text('Kind', ({ kind }) => kind),
      number('Thread time', ({ seconds }) => seconds, duration),
      number('Share', ({ seconds }) => seconds / whole, share)
    ]
  );
}

/** Every part of every group. */
export function groupsTable(
  title: string,
  groups: readonly BudgetGroup[],
  labels: ReadonlyMap<string, string>,
  parts: readonly Shown[],
  whole: number
): TableRows {
  const there = groups.flatMap(group =>
    [...group.byLayer.keys()]
      .filter(part => group.byLayer[part] > 0)
      .sort((a, b) => group.byLayer[b] - group.byLayer[a])
      .map(part => ({
        name: labels.get(group.key) ?? group.key,
        part: parts[part],
        seconds: group.byLayer[part]
      }))
  );
  return rowsOf(there, [
    text(title, ({ name }) => name),
    text('Part', ({ part }) => part.words),
    text('Kind', ({ part }) => part.kind),
    number('Thread time', ({ seconds }) => seconds, duration),
    number('Share', ({ seconds }) => seconds / whole, share)
  ]);
}
