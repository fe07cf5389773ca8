import { expect, test } from 'vitest';
import { recordingOf } from '../../core/test-recording';
import type { Pen } from '../../draw/pen';
import { Surface } from '../../draw/surface';
import { createStage } from '../stage';
import { PLAIN } from './cells';
import { drawDetails } from './details';

test('names on lanes of workers that are not chosen step back with them', () => {
  const task = { thread: 't', status: 'ok', start: 1, stop: 10, done: 10 };
  const stage = createStage(
    recordingOf({
      graph: [{ task: 0, key: 'inc-1', prefix: 'inc' }],
      attempts: ['a', 'b'].map((worker, run) => ({ ...task, run, task: 0, worker }))
    })
  );
  const surface = new Surface();
  const inks: unknown[] = [];
  const pen = { fillStyle: '', fillText: () => inks.push(pen.fillStyle) };
  const draw = (): unknown[] => {
    inks.length = 0;
    drawDetails(pen as unknown as Pen, {
      context: { ...stage, surface, say: () => {} },
      plot: { x: 0, y: 0, width: 400, height: 40 },
      scale: stage.viewport.scale(400),
      lanes: stage.tasks.lanes,
      laneHeight: 20,
      roles: Uint8Array.of(PLAIN, PLAIN),
      entries: undefined,
      isLow: () => false
    });
    return inks.map(ink => ink === surface.theme.faint);
  };
  expect(draw()).toEqual([false, false]);
  stage.selection.set({ source: 'memory', column: 'worker', value: ['b'] });
  expect(draw()).toEqual([true, false]);
  stage.selection.highlight = 'inc';
  expect(draw()).toEqual([true, false]);
});
