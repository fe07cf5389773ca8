import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';
import type { Widget } from '@lumino/widgets';

/** What dock panels take: a function that gives the widget which has been dropped. */
const FACTORY = 'application/vnd.lumino.widget-factory';

/** Pixels that the pointer moves before a press is a drag. */
const THRESHOLD = 5;

/** Watches a press; if the pointer moves, drags what `make` gives when it is dropped into a dock panel. */
export function dragFrom(press: PointerEvent, title: string, make: () => Widget): void {
  if (press.button !== 0) return;
  const controller = new AbortController();
  const options = { capture: true, signal: controller.signal };
  const end = (): void => controller.abort();
  const move = (event: PointerEvent): void => {
    // The button was let go where nobody told of it, as in a menu of the system.
    if (event.pointerType === 'mouse' && event.buttons === 0) {
      end();
      return;
    }
    const { clientX, clientY } = event;
    if (Math.hypot(clientX - press.clientX, clientY - press.clientY) < THRESHOLD) return;
    end();
    // The release of the pointer is no click on the entry.
    window.addEventListener('click', swallow, { capture: true, once: true });
    void started(title, make, clientX, clientY).then(() =>
      setTimeout(() => window.removeEventListener('click', swallow, true))
    );
  };
  document.addEventListener('pointermove', move, options);
  document.addEventListener('pointerup', end, options);
  document.addEventListener('pointercancel', end, options);
}

function swallow(event: Event): void {
  event.stopPropagation();
  event.preventDefault();
}

async function started(title: string, make: () => Widget, x: number, y: number): Promise<void> {
  const mimeData = new MimeData();
  mimeData.setData(FACTORY, make);
  const dragImage = document.createElement('div');
  dragImage.className = 'di-drag-image';
  dragImage.textContent = title;
  const drag = new Drag({ mimeData, dragImage, proposedAction: 'move', supportedActions: 'all' });
  await drag.start(x, y);
  drag.dispose();
}
