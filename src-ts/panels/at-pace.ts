/** Work that is asked for more often than it is done. */
export interface Paced {
  /** Do it when the time has come. */
  soon(): void;
  stop(): void;
}

/**
 * Does `work` at once where it has rested for `pace()` milliseconds, else when it has; once, however often it is
 * asked for meanwhile. At once is after what runs now, and before the frame: what follows from the same data,
 * as an axis that grows, is drawn with it.
 */
export function atPace(pace: () => number, work: () => void): Paced {
  let last = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = false;
  const settle = (): void => {
    if (!due) return;
    due = false;
    timer = undefined;
    last = performance.now();
    work();
  };
  return {
    soon: () => {
      if (due) return;
      due = true;
      const wait = last + pace() - performance.now();
      if (wait > 0) timer = setTimeout(settle, wait);
      else queueMicrotask(settle);
    },
    stop: () => {
      due = false;
      clearTimeout(timer);
    }
  };
}
