type Numbers = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

/** An array with room for so many numbers: the same, or one that begins with them and has room for more. */
export function grown<T extends Numbers>(array: T, needed: number): T {
  if (needed <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(needed, 2 * array.length));
  larger.set(array);
  return larger;
}
