import { bytes, count, duration, MISSING } from '../../core/format';

/** What is told of transfers of one kind. */
export interface Sums {
  readonly transfers: number;
  readonly nbytes: number;
  readonly seconds: number;
}

/** What the cells are coloured by. */
export interface Measure {
  readonly id: string;
  readonly label: string;
  of(sums: Sums): number;
  words(value: number): string;
}

/** Bytes a second while something was sent. */
export function rateWords(rate: number): string {
  return Number.isFinite(rate) ? `${bytes(rate)}/s` : MISSING;
}

export const MEASURES: readonly Measure[] = [
  { id: 'bytes', label: 'bytes', of: ({ nbytes }) => nbytes, words: bytes },
  { id: 'rate', label: 'bytes a second', of: ({ nbytes, seconds }) => nbytes / seconds, words: rateWords },
  { id: 'seconds', label: 'time', of: ({ seconds }) => seconds, words: duration },
  { id: 'transfers', label: 'transfers', of: each => each.transfers, words: count }
];
