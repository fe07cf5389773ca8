import type { Mounted } from '../panels/mount';
import { whenIdle } from '../panels/when-near';

/**
 * Draws what is out of sight once, one chart at a time, when all data are there
 * and the page has nothing else to do: scrolling then finds pictures, and
 * programs that photograph whole pages do too. Returns the stop.
 */
export function drawAhead(mounted: readonly Mounted[]): () => void {
  let drawn = 0;
  let stopped = false;
  const next = (): void => {
    if (stopped) return;
    if (document.documentElement.dataset.opened === 'true') {
      if (drawn === mounted.length) return;
      const { view, surface } = mounted[drawn++];
      if (!view.plain && view.empty() === undefined) {
        // The first time tells how high the panel is, the second draws it so.
        surface.refresh();
        surface.refresh();
      }
    }
    whenIdle(next);
  };
  whenIdle(next);
  return () => {
    stopped = true;
  };
}
