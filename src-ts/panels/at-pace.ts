/** Work that is asked for more often than it is done. */
export interface Paced {
  /** Do it when the time has come. */
  soon(): void;
  stop(): void;
}

/**
 * Does `work` `pace()` milliseconds after it is asked for; once, however often it is asked for meanwhile. Where it
 * is to be `prompt`, it is done at once if it has rested for as long: after what runs now, and before the frame, so
 * that what follows from the same data, as an axis that grows, is drawn with it.
 */
export function atPace(
  pace: () => number,
  work: () => void,
  { prompt }: { readonly prompt: boolean }
): Paced {
  let last = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = false;
  const settle = (): void => {
    if (!due) return;
    due = false;
    last = performance.now();
    work();
  };
  return {
    soon: () => {
      if (due) return;
      due = true;
      const wait = prompt ? last + pace() - performance.now() : pace();
      if (wait > 0) timer = setTimeout(settle, wait);
      else queueMicrotask(settle);
    },
    stop: () => {
      due = false;
      clearTimeout(timer);
    }
  };
}
