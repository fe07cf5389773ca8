import { describe, expect, test, vi } from 'vitest';
import { Lane, OK, RUNNING, statusCode } from '../../core/lane';
import { Tasks } from '../../core/tasks';
import { recordingOf } from '../../core/test-recording';
import { FULL, filling, PLAIN, Raster } from './cells';
import { Grid, type View } from './grid';
import { Phases } from './phases';

const lanes = Array.from({ length: 3 }, (_, each) => {
  const lane = new Lane('w', String(each));
  for (let entry = 0; entry < 2000; entry++) {
    const start = entry * 0.0100731 + each * 0.00317;
    lane.add(start, start + 0.00101937 * ((entry * (each + 2)) % 9), entry % 3, OK, entry);
  }
  return lane;
});

const grid = (): Grid => new Grid(new Phases(new Tasks(recordingOf({}))));

function view(change: Partial<View>): View {
  return {
    lanes,
    width: 300,
    start: 0,
    column: 0.02,
    origin: 0,
    now: 100,
    roles: Uint8Array.of(PLAIN, PLAIN, PLAIN),
    entries: undefined,
    plain: true,
    version: '1',
    moving: false,
    ...change
  };
}

describe('Grid', () => {
  test('a pan leaves the same cells as drawing anew, in both directions', () => {
    const panned = grid();
    panned.update(view({}));
    for (const column of [7, 14, 9, 120, 60, 500, 3]) {
      panned.update(view({ start: column * 0.02 }));
      const fresh = grid();
      expect(fresh.update(view({ start: column * 0.02 }))).toBe(true);
      expect(panned.tasks).toEqual(fresh.tasks);
    }
  });

  test('a change of width, zoom, lanes or version draws anew', () => {
    const used = grid();
    const changes = [{}, { width: 200 }, { column: 0.01 }, { lanes: lanes.slice(1) }, { version: '2' }];
    for (const change of changes) {
      used.update(view(change));
      const fresh = grid();
      fresh.update(view(change));
      expect(used.tasks).toEqual(fresh.tasks);
    }
  });

  test('more lanes of fewer columns are exact as well, each of them', () => {
    const used = grid();
    used.update(view({ lanes: lanes.slice(1), width: 300 }));
    const filled = vi.spyOn(Raster.prototype, 'fill');
    const wanted = view({ lanes, width: 200 });
    expect(used.update(wanted)).toBe(true);
    filled.mockClear();
    expect(used.update(wanted)).toBe(true);
    expect(filled).toHaveBeenCalledTimes(0);
    vi.restoreAllMocks();
  });

  test('a run that goes on leaves the same cells as drawing anew, wherever new entries begin', () => {
    const growing = [new Lane('w', 'a'), new Lane('w', 'b')];
    const used = grid();
    let now = 0;
    for (let step = 0; step < 120; step++) {
      now = step * 0.0501373;
      const [first, second] = growing;
      first.add(now, now + 0.03, step % 3, OK, step);
      if (step % 7 === 0) first.add(now - 0.4, now - 0.39, 2, statusCode('erred'), 1000 + step);
      if (step % 11 === 0) second.add(now, Number.POSITIVE_INFINITY, 1, RUNNING, step);
      if (step % 11 === 9) {
        second.remove((step - 9) * 0.0501373, step - 9, true);
        second.add((step - 9) * 0.0501373 - 0.01, now - 0.01, 1, OK, step);
      }
      const start = 0.02 * Math.max(0, step - 60);
      const change = { lanes: growing, now, start };
      used.update(view(change));
      const fresh = grid();
      fresh.update(view(change));
      expect(used.tasks.map(filling)).toEqual(fresh.tasks.map(filling));
      // How full a pixel is may differ by a rounding.
      const apart = used.tasks.map((cell, at) => Math.abs((cell & FULL) - (fresh.tasks[at] & FULL)));
      expect(Math.max(...apart)).toBeLessThanOrEqual(1);
    }
  });

  test('lanes that have no levels yet are drawn from their entries, however many there are', () => {
    const count = 140_000;
    const many = ['a', 'b'].map(thread => {
      const lane = new Lane('w', thread);
      for (let entry = 0; entry < count; entry++) lane.add(entry / count, (entry + 1) / count, 0, OK, entry);
      return lane;
    });
    const whole = view({ lanes: many, column: 1 / 300, now: 1, moving: true });
    const used = grid();
    used.levels.build(many.slice(0, 1), whole.roles, 0, 1, 1e9);
    used.update(whole);
    expect(used.tasks.every(cell => filling(cell) > 0)).toBe(true);
    used.levels.build(many, whole.roles, 0, 1, 1e9);
    expect(used.update({ ...whole, version: '2' })).toBe(false);
  });
});
