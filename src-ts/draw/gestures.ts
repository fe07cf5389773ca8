import { focusIn } from './focus';

/** What a person can do on a surface; places are CSS pixels within it. All optional. */
export interface GestureHandlers {
  /** Zoom about a place; `factor` below 1 zooms in. False leaves the wheel to the page. */
  zoom?(x: number, y: number, factor: number): unknown;
  /** The content is dragged by this much. False leaves the wheel to the page. */
  pan?(dx: number, dy: number): unknown;
  /** A stretch is being marked; `done` when the button, or the finger, is let go; empty if it never moved. */
  brush?(from: number, to: number, done: boolean): void;
  /** The pointer is here; undefined when it has left, or drags. */
  hover?(place: { readonly x: number; readonly y: number } | undefined): void;
  click?(x: number, y: number, event: PointerEvent): void;
  doubleClick?(x: number, y: number): void;
  /** A key that the surface might use; true if it did. */
  key?(event: KeyboardEvent): boolean;
}

/** Movement below this is a click, CSS pixels. */
const CLICK = 4;

/** How long a finger rests before a drag marks a stretch, milliseconds; and how far it may stray, CSS pixels. */
const HOLD = 400;
const STRAY = 10;

const never = (): boolean => false;

/**
 * Turns pointer, wheel, touch and keys into gestures. The wheel zooms only
 * while the element has the focus or Ctrl or ⌘ is down, so that the page
 * scrolls as usual; Shift and a drag mark a stretch, as do a finger that rests
 * and then drags. Two fingers zoom, and scroll what does not fit. Returns the
 * stop.
 */
export function listen(element: HTMLElement, handlers: GestureHandlers): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let began: { x: number; y: number; brush: boolean } | undefined;
  let moved = false;
  let hold: ReturnType<typeof setTimeout> | undefined;
  const abort = new AbortController();
  const { signal } = abort;

  const place = (event: MouseEvent): { x: number; y: number } => {
    const bounds = element.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  };

  const onWheel = (event: WheelEvent): void => {
    if (!focusIn(element) && !event.ctrlKey && !event.metaKey) return;
    const { zoom = never, pan = never } = handlers;
    const { x, y } = place(event);
    const unit = [1, 16, 400][event.deltaMode];
    const step = Math.max(-120, Math.min(120, event.deltaY * unit));
    const isAside = Math.abs(event.deltaX) > Math.abs(event.deltaY) || (event.shiftKey && !event.ctrlKey);
    const taken = isAside
      ? pan(-Math.round((event.deltaX || event.deltaY) * unit), 0)
      : zoom(x, y, Math.exp(step * (event.ctrlKey ? 0.01 : 0.0022)));
    if (taken !== false) event.preventDefault();
  };

  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    element.focus({ preventScroll: true });
    const at = place(event);
    pointers.set(event.pointerId, at);
    giveUp();
    began = { ...at, brush: event.shiftKey && handlers.brush !== undefined };
    moved = false;
    if (event.pointerType !== 'touch' || pointers.size > 1 || !handlers.brush) return;
    hold = setTimeout(() => {
      if (!began || moved || pointers.size !== 1) return;
      began.brush = true;
      element.setPointerCapture(event.pointerId);
      handlers.brush?.(began.x, began.x, false);
    }, HOLD);
  };

  const onMove = (event: PointerEvent): void => {
    // The button was let go where nobody told of it, as outside the window.
    const released = event.pointerType === 'mouse' && event.buttons === 0;
    if (released && pointers.has(event.pointerId)) onCancel(event);
    const at = place(event);
    const before = pointers.get(event.pointerId);
    if (!before || !began) {
      handlers.hover?.(at);
      return;
    }
    const far = event.pointerType === 'touch' ? STRAY : CLICK;
    if (!moved && Math.hypot(at.x - began.x, at.y - began.y) < far) return;
    if (!moved) {
      element.setPointerCapture(event.pointerId);
      handlers.hover?.(undefined);
    }
    moved = true;
    if (pointers.size === 2) pinch(event.pointerId, before, at);
    else if (began.brush) handlers.brush?.(began.x, at.x, false);
    else handlers.pan?.(Math.round(at.x) - Math.round(before.x), Math.round(at.y) - Math.round(before.y));
    pointers.set(event.pointerId, at);
  };

  const pinch = (id: number, before: { x: number; y: number }, at: { x: number; y: number }): void => {
    for (const [otherId, other] of pointers) {
      if (otherId === id) continue;
      const old = Math.max(20, Math.abs(before.x - other.x));
      const now = Math.max(20, Math.abs(at.x - other.x));
      handlers.zoom?.((at.x + other.x) / 2, (at.y + other.y) / 2, old / now);
      // Each of the two moves the middle between them by half of its way.
      if (at.y !== before.y) handlers.pan?.(0, (at.y - before.y) / 2);
    }
  };

  const onUp = (event: PointerEvent): void => {
    const known = pointers.delete(event.pointerId);
    if (!known || !began || pointers.size > 0) return;
    const at = place(event);
    clearTimeout(hold);
    if (began.brush && (moved || event.pointerType === 'touch')) {
      handlers.brush?.(began.x, moved ? at.x : began.x, true);
    } else if (!moved) handlers.click?.(at.x, at.y, event);
    began = undefined;
    if (moved && event.pointerType !== 'touch') handlers.hover?.(at);
  };

  /** What is being marked is not marked. */
  const giveUp = (): void => {
    clearTimeout(hold);
    if (began?.brush) handlers.brush?.(began.x, began.x, true);
    if (pointers.size === 0) began = undefined;
  };

  const onCancel = (event: PointerEvent): void => {
    pointers.delete(event.pointerId);
    giveUp();
  };

  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== element) return;
    if (event.key === 'Escape' && began?.brush) {
      pointers.clear();
      giveUp();
    } else if (!handlers.key?.(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  let scale = 1;
  /** Safari's track pads; its touch screens tell of pointers as well. */
  const onGesture = (event: Event): void => {
    if (pointers.size > 0) return;
    const { zoom = never } = handlers;
    const { x, y } = place(event as MouseEvent);
    const before = event.type === 'gesturestart' ? 1 : scale;
    scale = (event as Event & { readonly scale: number }).scale;
    if (zoom(x, y, before / scale) !== false) event.preventDefault();
  };

  element.style.touchAction = 'pan-y';
  const on = <K extends keyof HTMLElementEventMap>(
    what: K,
    then: (event: HTMLElementEventMap[K]) => unknown
  ): void => element.addEventListener(what, then, { signal, passive: false });
  on('wheel', onWheel);
  on('pointerdown', onDown);
  on('pointermove', onMove);
  on('pointerup', onUp);
  on('pointercancel', onCancel);
  // A finger that rests asks for no menu.
  on('contextmenu', event => began?.brush && event.preventDefault());
  on('pointerleave', () => handlers.hover?.(undefined));
  on('dblclick', event => {
    const { x, y } = place(event);
    handlers.doubleClick?.(x, y);
  });
  on('keydown', onKey);
  for (const what of ['gesturestart', 'gesturechange']) element.addEventListener(what, onGesture, { signal });
  return () => {
    clearTimeout(hold);
    abort.abort();
  };
}
