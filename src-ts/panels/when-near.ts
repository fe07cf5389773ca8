/** Work on a part of the page that waits until the part comes near the window. */
export interface Patient {
  /** The work is due (again). */
  renew(): void;
  stop(): void;
}

/** Height that the part stands in for until it is known, so that not all parts come near at once. */
const STANDS_FOR = '240px';

/** Does `work` when it is due and `part` is near the window, once a frame is drawn, or when the page has nothing else to do. */
export function whenNear(part: HTMLElement, work: () => void): Patient {
  let near = false;
  let due = false;
  const settle = (): void => {
    if (!due) return;
    due = false;
    part.style.minHeight = '';
    work();
  };
  const seen = new IntersectionObserver(
    entries => {
      near = entries[entries.length - 1].isIntersecting;
      if (near) settle();
    },
    { rootMargin: '200px', scrollMargin: '200px' }
  );
  part.style.minHeight = STANDS_FOR;
  seen.observe(part);
  return {
    renew: () => {
      due = true;
      if (near) requestAnimationFrame(() => setTimeout(settle));
      else whenIdle(settle);
    },
    stop: () => {
      due = false;
      seen.disconnect();
    }
  };
}

/** Does `work` when the page has nothing else to do, or after some seconds. */
export function whenIdle(work: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout: 5000 });
  else setTimeout(work, 1000);
}
