import type { BudgetGroup } from '../../core/budget-groups';
import { duration, share } from '../../core/format';
import type { TableRows } from '../panel';
import type { Shown } from './figures';

/** Every part with its thread time. */
export function partsTable(parts: readonly Shown[], whole: number): TableRows {
  const there = parts.filter(({ seconds }) => seconds > 0);
  const values = ({ words, kind, seconds }: Shown): (string | number)[] => [
    words,
    kind,
    seconds,
    seconds / whole
  ];
  return {
    columns: [
      { title: 'Thread time', numeric: false },
      { title: 'Kind', numeric: false },
      { title: 'Seconds', numeric: true },
      { title: 'Share', numeric: true }
    ],
    length: there.length,
    row: row => {
      const { words, kind, seconds } = there[row];
      return [words, kind, duration(seconds), share(seconds / whole)];
    },
    value: (row, column) => values(there[row])[column]
  };
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
  return {
    columns: [
      { title, numeric: false },
      { title: 'Thread time', numeric: false },
      { title: 'Kind', numeric: false },
      { title: 'Seconds', numeric: true },
      { title: 'Share', numeric: true }
    ],
    length: there.length,
    row: row => {
      const { name, part, seconds } = there[row];
      return [name, part.words, part.kind, duration(seconds), share(seconds / whole)];
    },
    value: (row, column) => {
      const { name, part, seconds } = there[row];
      return [name, part.words, part.kind, seconds, seconds / whole][column];
    }
  };
}
