/**
 * The order in which people put names: `worker-2` before `worker-10`, capitals beside small letters.
 *
 * `Intl.Collator` orders alike, but loads its tables first, which takes longer than a first picture does.
 */
export function natural(a: string, b: string): number {
  const left = partsOf(a);
  const right = partsOf(b);
  for (let at = 0; at < left.length && at < right.length; at++) {
    const difference =
      at % 2 ? numbers(left[at], right[at]) : texts(left[at].toLowerCase(), right[at].toLowerCase());
    if (difference !== 0) return difference;
  }
  return left.length - right.length || texts(a, b);
}

/** Text and digits in turns, text first. */
function partsOf(text: string): string[] {
  return text.split(/(\d+)/);
}

function numbers(a: string, b: string): number {
  const [left, right] = [a, b].map(digits => digits.replace(/^0+/, ''));
  return left.length - right.length || texts(left, right);
}

function texts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
