/**
 * The first place, from `from` up to `to`, whose value lies above a limit; `to` if there is none. Values never fall.
 * Arrays of one kind alone: with several, what is looked for at each pixel would take twice as long.
 */
export function firstAbove(values: Float64Array, limit: number, from = 0, to = values.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
