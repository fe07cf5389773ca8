import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listen } from './gestures';

let element: HTMLElement;
let log: string[];
let stop: () => void;

beforeEach(() => {
  element = document.createElement('div');
  element.tabIndex = 0;
  element.setPointerCapture = () => {};
  document.body.append(element);
  log = [];
  stop = listen(element, {
    zoom: (x, _y, factor) => log.push(`zoom ${x} ${factor < 1 ? 'in' : 'out'}`),
    pan: (dx, dy) => log.push(`pan ${dx} ${dy}`),
    brush: (from, to, done) => log.push(`brush ${from} ${to} ${done}`),
    hover: place => log.push(place ? `hover ${place.x}` : 'leave'),
    click: (x, y) => log.push(`click ${x} ${y}`),
    doubleClick: () => log.push('double'),
    key: event => event.key === '+' && log.push('key +') > 0
  });
});

afterEach(() => {
  stop();
  element.remove();
});

function pointer(type: string, x: number, y: number, more: object = {}): void {
  element.dispatchEvent(
    new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, button: 0, bubbles: true, ...more })
  );
}

function wheel(options: WheelEventInit): WheelEvent {
  const event = new WheelEvent('wheel', { bubbles: true, cancelable: true, ...options });
  // What stands in for the browser here gives a wheel no modifier keys and no place.
  for (const [name, value] of Object.entries({ ctrlKey: false, clientX: 30, ...options })) {
    Object.defineProperty(event, name, { value });
  }
  element.dispatchEvent(event);
  return event;
}

describe('gestures', () => {
  test('the wheel scrolls the page until the chart has the focus or a modifier is down', () => {
    expect(wheel({ deltaY: -100 }).defaultPrevented).toBe(false);
    expect(log).toEqual([]);
    expect(wheel({ deltaY: -100, ctrlKey: true }).defaultPrevented).toBe(true);
    element.focus();
    wheel({ deltaY: 100 });
    wheel({ deltaX: 12 });
    expect(log).toEqual(['zoom 30 in', 'zoom 30 out', 'pan -12 0']);
  });

  test('two fingers on a track pad of Safari zoom the chart, and the page only where that does not zoom', () => {
    const taken = (): boolean[] =>
      (
        [
          ['gesturestart', 1],
          ['gesturechange', 2],
          ['gesturechange', 1]
        ] as const
      ).map(([type, scale]) => {
        const event = Object.assign(new MouseEvent(type, { cancelable: true, clientX: 30 }), { scale });
        element.dispatchEvent(event);
        return event.defaultPrevented;
      });
    expect(taken()).toEqual([true, true, true]);
    expect(log.slice(-2)).toEqual(['zoom 30 in', 'zoom 30 out']);
    for (const handlers of [{ click: () => {} }, { zoom: () => false }]) {
      stop();
      stop = listen(element, handlers);
      expect(taken()).toEqual([false, false, false]);
    }
  });

  test('the wheel is left to the page where nothing is done with it', () => {
    const taken = (): boolean[] =>
      [{ deltaY: 100 }, { deltaX: 12 }].map(way => wheel({ ...way, ctrlKey: true }).defaultPrevented);
    stop();
    stop = listen(element, { click: () => {} });
    expect(taken()).toEqual([false, false]);
    stop();
    stop = listen(element, { zoom: () => false, pan: () => {} });
    expect(taken()).toEqual([false, true]);
  });

  test('the wheel knows the focus in a shadow tree', () => {
    const host = document.createElement('div');
    document.body.append(host);
    host.attachShadow({ mode: 'open' }).append(element);
    element.focus();
    expect(wheel({ deltaY: 100 }).defaultPrevented).toBe(true);
    host.remove();
  });

  test('a drag pans by whole pixels, a click does not; the pointer is nowhere until it is let go', () => {
    pointer('pointerdown', 10, 10);
    pointer('pointermove', 12, 10);
    pointer('pointerup', 12, 10);
    pointer('pointerdown', 10, 10);
    pointer('pointermove', 20.4, 11);
    pointer('pointermove', 25, 15);
    pointer('pointerup', 25, 15);
    expect(log).toEqual(['click 12 10', 'leave', 'pan 10 1', 'pan 5 4', 'hover 25']);
  });

  test('Shift and a drag mark a stretch', () => {
    pointer('pointerdown', 10, 10, { shiftKey: true });
    pointer('pointermove', 50, 10);
    pointer('pointerup', 60, 10);
    expect(log).toEqual(['leave', 'brush 10 50 false', 'brush 10 60 true', 'hover 60']);
  });

  test('a drag whose button was let go elsewhere is over when the pointer comes back', () => {
    const mouse = { pointerType: 'mouse' };
    pointer('pointerdown', 10, 10, mouse);
    pointer('pointermove', 50, 10, mouse);
    pointer('pointermove', 60, 10, mouse);
    pointer('pointerdown', 10, 10, { ...mouse, shiftKey: true });
    pointer('pointermove', 30, 10, { ...mouse, buttons: 1 });
    pointer('pointermove', 70, 10, mouse);
    const brushed = ['brush 10 30 false', 'brush 10 10 true'];
    expect(log).toEqual(['hover 50', 'hover 60', 'leave', ...brushed, 'hover 70']);
  });

  test('two fingers zoom', () => {
    pointer('pointerdown', 100, 10, { pointerId: 1 });
    pointer('pointerdown', 200, 10, { pointerId: 2 });
    pointer('pointermove', 300, 10, { pointerId: 2 });
    expect(log).toEqual(['leave', 'zoom 200 in']);
  });

  test('two fingers that move up or down together scroll, by as much as they move', () => {
    pointer('pointerdown', 100, 10, { pointerId: 1 });
    pointer('pointerdown', 200, 10, { pointerId: 2 });
    pointer('pointermove', 100, 40, { pointerId: 1 });
    pointer('pointermove', 200, 40, { pointerId: 2 });
    expect(log.filter(each => each.startsWith('pan'))).toEqual(['pan 0 15', 'pan 0 15']);
  });

  test('a finger that rests and then drags marks a stretch; one that drags at once pans', () => {
    vi.useFakeTimers();
    const touch = { pointerType: 'touch' };
    pointer('pointerdown', 10, 10, touch);
    pointer('pointermove', 14, 10, touch);
    vi.runAllTimers();
    pointer('pointermove', 60, 10, touch);
    pointer('pointerup', 70, 10, touch);
    expect(log).toEqual(['brush 10 10 false', 'leave', 'brush 10 60 false', 'brush 10 70 true']);
    log = [];
    pointer('pointerdown', 10, 10, touch);
    pointer('pointermove', 40, 10, touch);
    vi.runAllTimers();
    pointer('pointerup', 40, 10, touch);
    expect(log).toEqual(['leave', 'pan 30 0']);
    log = [];
    pointer('pointerdown', 10, 10, touch);
    vi.runAllTimers();
    pointer('pointerup', 10, 10, touch);
    expect(log).toEqual(['brush 10 10 false', 'brush 10 10 true']);
    vi.useRealTimers();
  });

  function press(key: string): boolean {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    element.dispatchEvent(event);
    return event.defaultPrevented;
  }

  test('Esc gives up a stretch that is being marked, and nothing else', () => {
    pointer('pointerdown', 10, 10, { shiftKey: true });
    pointer('pointermove', 50, 10);
    expect(press('Escape')).toBe(true);
    pointer('pointermove', 60, 10);
    pointer('pointerup', 60, 10);
    expect(log).toEqual(['leave', 'brush 10 50 false', 'brush 10 10 true', 'hover 60']);
    expect(press('Escape')).toBe(false);
  });

  test('keys of the element itself, taken only if used', () => {
    expect([press('+'), press('x')]).toEqual([true, false]);
    expect(log).toEqual(['key +']);
  });

  test('nothing after the stop', () => {
    stop();
    pointer('pointermove', 5, 5);
    wheel({ deltaY: 5, ctrlKey: true });
    expect(log).toEqual([]);
  });
});
