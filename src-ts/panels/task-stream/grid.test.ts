import { describe, expect, test } from 'vitest';
import { Lane, OK } from '../../core/lane';
import { Tasks } from '../../core/tasks';
import { recordingOf } from '../../core/test-recording';
import { PLAIN } from './cells';
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
});
