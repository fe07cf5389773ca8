/**
 * The order that sorts numbers, equal ones as they stand: `values[order[i]]` rises with i.
 *
 * Merges stretches that rise already, so that what is nearly sorted, or is a few sorted parts, costs little.
 */
export function merged(values: Float64Array): Uint32Array {
  const { length } = values;
  let order = new Uint32Array(length);
  for (let at = 0; at < length; at++) order[at] = at;
  let ends = rises(values);
  let other = new Uint32Array(ends.length > 1 ? length : 0);
  while (ends.length > 1) {
    const joined: number[] = [];
    let from = 0;
    for (let part = 0; part < ends.length; part += 2) {
      const middle = ends[part];
      const to = ends[part + 1] ?? middle;
      mergeInto(other, order, values, from, middle, to);
      joined.push(to);
      from = to;
    }
    [order, other] = [other, order];
    ends = joined;
  }
  return order;
}

/** Where each stretch ends that rises. */
function rises(values: Float64Array): number[] {
  const ends: number[] = [];
  for (let at = 1; at < values.length; at++) if (!(values[at] >= values[at - 1])) ends.push(at);
  ends.push(values.length);
  return ends;
}

function mergeInto(
  into: Uint32Array,
  order: Uint32Array,
  values: Float64Array,
  from: number,
  middle: number,
  to: number
): void {
  let left = from;
  let right = middle;
  for (let at = from; at < to; at++) {
    const takesLeft = right === to || (left < middle && !(values[order[right]] < values[order[left]]));
    into[at] = takesLeft ? order[left++] : order[right++];
  }
}
