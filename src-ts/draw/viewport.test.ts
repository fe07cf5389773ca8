import { describe, expect, test, vi } from 'vitest';
import { Viewport } from './viewport';

function opened(): Viewport {
  const viewport = new Viewport();
  viewport.setExtent(100, 200);
  return viewport;
}

describe('Viewport', () => {
  test('shows everything, and follows what is added', () => {
    const viewport = opened();
    expect([viewport.start, viewport.stop, viewport.follow, viewport.fitted]).toEqual([100, 200, true, true]);
    viewport.setExtent(100, 250);
    expect([viewport.start, viewport.stop]).toEqual([100, 250]);
  });

  test('data never move what a person has set, until asked to follow again', () => {
    const viewport = opened();
    viewport.zoom(0.5, 0.1);
    expect([viewport.start, viewport.stop, viewport.follow]).toEqual([145, 155, false]);
    viewport.setExtent(100, 300);
    expect([viewport.start, viewport.stop]).toEqual([145, 155]);
    viewport.follow = true;
    expect([viewport.start, viewport.stop]).toEqual([290, 300]);
    viewport.setExtent(100, 310);
    expect([viewport.start, viewport.stop]).toEqual([300, 310]);
    viewport.fit();
    expect([viewport.start, viewport.stop]).toEqual([100, 310]);
  });

  test('of a run that goes on leaves a little room, so that the scale seldom changes', () => {
    const viewport = new Viewport({ live: true });
    const shown = new Set<string>();
    for (let time = 150; time < 200; time += 0.1) {
      viewport.setExtent(100, time);
      shown.add(`${viewport.start} ${viewport.stop}`);
      expect(viewport.start).toBe(100);
      expect(viewport.stop).toBeGreaterThanOrEqual(time);
      expect(viewport.stop - time).toBeLessThanOrEqual((time - 100) / 32);
    }
    expect(shown.size).toBeLessThan(60);
    viewport.pan(0.001);
    expect(viewport.span).toBeCloseTo(viewport.stop - viewport.start);
  });

  test('of a run that goes on may begin where something new began', () => {
    const viewport = new Viewport({ live: true });
    viewport.setExtent(100, 200);
    viewport.followFrom(190);
    viewport.setExtent(100, 210);
    expect([viewport.start, viewport.follow, viewport.fitted]).toEqual([190, true, false]);
    expect(viewport.stop).toBeCloseTo(210, 0);
    viewport.show(120, 130);
    viewport.followFrom(205);
    expect([viewport.start, viewport.stop]).toEqual([120, 130]);
    viewport.fit();
    expect([viewport.start, viewport.fitted]).toEqual([100, true]);
  });

  test('zooms about a place and stays inside', () => {
    const viewport = opened();
    viewport.zoom(0.25, 0.5);
    expect([viewport.start, viewport.stop]).toEqual([112.5, 162.5]);
    viewport.pan(-5);
    expect([viewport.start, viewport.stop]).toEqual([100, 150]);
    viewport.zoom(0, 100);
    expect([viewport.start, viewport.stop]).toEqual([100, 200]);
  });

  test('follows a slow drag, however far it is zoomed in', () => {
    const viewport = new Viewport();
    viewport.setExtent(1.8e9, 1.8e9 + 100);
    for (let times = 0; times < 200; times++) viewport.zoom(0.5, 0.5);
    for (let pixel = 0; pixel < 4000; pixel++) {
      const before = viewport.start;
      viewport.pan(1 / 4000);
      expect(viewport.start).toBeGreaterThan(before);
    }
  });

  test('what is too short to be shown stands in the middle', () => {
    const viewport = opened();
    viewport.show(150, 150 + 1e-6);
    expect((viewport.start + viewport.stop) / 2).toBeCloseTo(150, 5);
    expect(viewport.span).toBeGreaterThan(1e-4);
  });

  test('a chart begins at a whole device pixel, wherever a pan ends', () => {
    const viewport = opened();
    viewport.zoom(0.3, 0.137);
    for (const ratio of [1, 1.25, 2]) {
      for (const share of [0.01, -0.0037, 0.4]) {
        viewport.pan(share);
        const { start, perPixel, width, x, time } = viewport.scale(777, ratio);
        const columns = (start - 100) / (perPixel / ratio);
        expect(columns).toBeCloseTo(Math.round(columns), 4);
        expect(Math.abs(start - viewport.start)).toBeLessThanOrEqual((0.6 * perPixel) / ratio);
        expect(x(time(123))).toBeCloseTo(123, 3);
        expect(width * perPixel).toBeCloseTo(viewport.span, 9);
      }
    }
  });

  test('a pan there and back ends where it began, also from half a pixel', () => {
    const viewport = opened();
    viewport.zoom(0.5, 1 / 1.5);
    viewport.zoom(0.5, 1 / 1.5);
    const { start } = viewport.scale(1001);
    for (const pixels of [163, 7, 11, 950]) {
      viewport.pan(pixels / 1001 / 10);
      viewport.pan(-pixels / 1001 / 10);
      expect(viewport.scale(1001).start).toBe(start);
    }
  });

  test('moves until a moment after the last change, and tells when it has come to rest', () => {
    vi.useFakeTimers();
    const viewport = opened();
    let told = 0;
    const stop = viewport.subscribe(() => told++);
    viewport.zoom(0.5, 0.5);
    expect([viewport.moving, told]).toEqual([true, 1]);
    vi.advanceTimersByTime(100);
    viewport.pan(0.1);
    vi.advanceTimersByTime(100);
    expect(viewport.moving).toBe(true);
    vi.advanceTimersByTime(100);
    expect([viewport.moving, told]).toEqual([false, 3]);
    stop();
    viewport.fit();
    expect(told).toBe(3);
    vi.useRealTimers();
  });
});
