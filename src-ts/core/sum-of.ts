/** The sum of numbers, or of a number `of` each. */
export function sumOf(numbers: Iterable<number>): number;
export function sumOf<T>(list: Iterable<T>, of: (each: T) => number): number;
export function sumOf<T>(list: Iterable<T>, of: (each: T) => number = Number): number {
  let sum = 0;
  for (const each of list) sum += of(each);
  return sum;
}
