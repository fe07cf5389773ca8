import { bytes, count, duration } from '../core/format';
import type { TableRows } from './panel';

/** A column of a table of things: what it says of one, and the number or text behind that. */
export interface Column<Thing> {
  readonly title: string;
  readonly numeric?: boolean;
  readonly unit?: string | undefined;
  readonly prose?: boolean;
  words(thing: Thing): string;
  value(thing: Thing): number | string;
}

/** A column of numbers; the `unit` of those behind the words is known where these are `duration` or `bytes`. */
export function number<Thing>(
  title: string,
  value: (thing: Thing) => number,
  words: (value: number) => string,
  unit = words === duration ? 's' : words === bytes ? 'B' : undefined
): Column<Thing> {
  return { title, numeric: true, unit, value, words: thing => words(value(thing)) };
}

export function text<Thing>(title: string, value: (thing: Thing) => string): Column<Thing> {
  return { title, value, words: value };
}

/** How many there are; no word where there are none. */
export const some = (value: number): string => (value > 0 ? count(value) : '');

/** A row a thing. */
export function tableOf<Thing>(things: ArrayLike<Thing>, columns: readonly Column<Thing>[]): TableRows {
  return {
    columns,
    length: things.length,
    row: row => columns.map(({ words }) => words(things[row])),
    value: (row, column) => columns[column].value(things[row])
  };
}

/** The same. What nothing is said of takes no room: columns without a word are left out. */
export function rowsOf<Thing>(things: readonly Thing[], columns: readonly Column<Thing>[]): TableRows {
  const isSaid = ({ words }: Column<Thing>): boolean => things.some(thing => words(thing) !== '');
  return tableOf(things, things.length > 0 ? columns.filter(isSaid) : columns);
}
