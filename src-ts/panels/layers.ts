/** Bins in which the highest moment of a whole recording is looked for. */
export const COARSE = 400;

/** The edges of a layer, bin by bin; the upper one is NaN where nothing is known of it. */
export interface Layer {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Layers one over the other, from the bottom. */
export function stacked(sums: readonly Float64Array[]): Layer[] {
  let top = new Float64Array(sums[0]?.length);
  return sums.map(sum => {
    const low = top;
    const high = sum.map((value, bin) => low[bin] + value);
    top = high.map((value, bin) => (Number.isNaN(value) ? low[bin] : value));
    return { low, high };
  });
}

/** How far up layers reach. */
export function peakOf(layers: readonly Layer[]): number {
  return layers.reduce((most, { high }) => high.reduce((a, b) => (b > a ? b : a), most), 0);
}
