import type { Mounted } from '../panels/mount';
import { whenIdle } from '../panels/when-near';

/**
 * Draws what is out of sight once, one chart at a time, when all data are there
 * and the page has nothing else to do: scrolling then finds pictures, and
 * programs that photograph whole pages do too. Returns the stop.
 */
export function drawAhead(mounted: readonly Mounted[]): () => void {
  const left = [...mounted];
  let stopped = false;
  const next = (): void => {
    const [first] = left;
    if (stopped || !first) return;
    if (document.documentElement.dataset.opened === 'true') {
      left.shift();
      if (!first.view.plain && first.view.empty() === undefined) {
        // The first time tells how high the panel is, the second draws it so.
        first.surface.refresh();
        first.surface.refresh();
      }
    }
    whenIdle(next);
  };
  whenIdle(next);
  return () => {
    stopped = true;
  };
}
