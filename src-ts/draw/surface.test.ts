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

test('a very tall list has fewer pixels than the screen: a canvas of more stays empty', () => {
  const surface = new Surface();
  document.body.append(surface.element);
  for (const [side, length] of [
    ['clientWidth', 1300],
    ['clientHeight', 8000]
  ] as const)
    Object.defineProperty(surface.element, side, { value: length });
  vi.stubGlobal('devicePixelRatio', 2);
  surface.start(PAINTER);
  expect(surface.width * surface.height * surface.ratio ** 2).toBeCloseTo(16e6, -2);
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

test('what is laid out is drawn in the same frame and asks for no other', async () => {
  const context = { setTransform: () => {}, fillRect: () => {}, clearRect: () => {} };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  const nextFrame = (): Promise<unknown> => new Promise(requestAnimationFrame);
  let drawn = 0;
  const surface = new Surface();
  document.body.append(surface.element);
  surface.start({ ...PAINTER, layout: () => surface.invalidate('base'), draw: () => drawn++ });
  surface.width = surface.height = 100;
  for (let frame = 0; frame < 3; frame++) await nextFrame();
  drawn = 0;
  surface.invalidate('layout');
  for (let frame = 0; frame < 3; frame++) await nextFrame();
  expect(drawn).toBe(1);
  surface.dispose();
  vi.restoreAllMocks();
});

test('the sheet over the picture is touched only where something stands on it', () => {
  const touched: string[] = [];
  const context = { setTransform: () => {}, fillRect: () => {}, clearRect: () => touched.push('cleared') };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  let marked = false;
  const surface = new Surface();
  document.body.append(surface.element);
  surface.start({
    ...PAINTER,
    drawOverlay: sheet => {
      if (marked && sheet()) touched.push('drawn');
    }
  });
  surface.width = surface.height = 100;
  const commit = (): string[] => {
    touched.length = 0;
    surface.invalidate('layout');
    surface.commit();
    return [...touched];
  };
  // The first picture is drawn without.
  commit();
  expect(commit()).toEqual([]);
  marked = true;
  expect(commit()).toEqual(['cleared', 'drawn']);
  marked = false;
  expect(commit()).toEqual(['cleared']);
  expect(commit()).toEqual([]);
  surface.dispose();
  vi.restoreAllMocks();
});

test.each(['base', 'overlay'] as const)('what the browser has lost of the %s is drawn anew', sheet => {
  const context = { setTransform: () => {}, fillRect: () => {} };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  const draw = vi.fn();
  const surface = new Surface();
  document.body.append(surface.element);
  surface.start({ ...PAINTER, draw });
  surface.width = surface.height = 100;
  surface.commit();
  draw.mockClear();
  surface[sheet].dispatchEvent(new Event('contextrestored'));
  surface.commit();
  expect(draw).toHaveBeenCalled();
  surface.dispose();
  vi.restoreAllMocks();
});

test('what is written is read from the left, also in a page that is read from the right', () => {
  const context = { direction: 'inherit', setTransform: () => {}, fillRect: () => {} };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  const surface = new Surface();
  document.body.append(surface.element);
  surface.start(PAINTER);
  surface.width = surface.height = 100;
  surface.invalidate('layout');
  surface.commit();
  expect(context.direction).toBe('ltr');
  surface.dispose();
  vi.restoreAllMocks();
});
