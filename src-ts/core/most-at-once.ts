/** The most there ever was of something: of `always`, and of what comes and goes. What goes makes room first. */
export function mostAtOnce(changes: (readonly [moment: number, by: number])[], always = 0): number {
  changes.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  let [now, most] = [always, always];
  for (const [, by] of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
