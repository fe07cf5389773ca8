import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Surface } from './surface';

/** What listens to which query. */
const listeners = new Map<string, Set<() => void>>();
const PAINTER = { layout: () => {}, draw: () => {}, drawOverlay: () => {} };

beforeEach(() => {
  listeners.clear();
  vi.stubGlobal('matchMedia', (query: string) => {
    const own = listeners.get(query) ?? new Set();
    listeners.set(query, own);
    return {
      matches: false,
      addEventListener: (_: string, listener: () => void) => own.add(listener),
      removeEventListener: (_: string, listener: () => void) => own.delete(listener)
    };
  });
  vi.stubGlobal('devicePixelRatio', 1);
});

afterEach(() => vi.unstubAllGlobals());

/** The window goes to a screen with other pixels. */
function moveTo(ratio: number): void {
  const before = [...(listeners.get(`(resolution: ${devicePixelRatio}dppx)`) ?? [])];
  vi.stubGlobal('devicePixelRatio', ratio);
  for (const listener of before) listener();
}

test('pictures follow the pixels of the screen, each time the window goes to another', () => {
  const surface = new Surface();
  document.body.append(surface.element);
  surface.start(PAINTER);
  expect(surface.ratio).toBe(1);
  moveTo(2);
  expect(surface.ratio).toBe(2);
  moveTo(1.5);
  expect(surface.ratio).toBe(1.5);
  surface.dispose();
});

test('a surface that is gone listens to nothing', () => {
  const surface = new Surface();
  document.body.append(surface.element);
  surface.start(PAINTER);
  moveTo(2);
  surface.dispose();
  expect([...listeners.values()].every(own => own.size === 0)).toBe(true);
});
