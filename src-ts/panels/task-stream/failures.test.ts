import { expect, test } from 'vitest';
import { Tasks } from '../../core/tasks';
import { recordingOf } from '../../core/test-recording';
import type { Pen } from '../../draw/pen';
import { PLAIN } from '../../draw/theme';
import { ERRED, FIRST_NAME, FULL, RETRIED } from './cells';
import { drawFailures } from './failures';
import { Grid } from './grid';
import { Phases } from './phases';

test('failures beside each other are drawn as one, each kind in its colour, and none in lanes that step back', () => {
  const cell = (fill: number, full = FULL): number => (fill << 6) | full;
  const grid = new Grid(new Phases(new Tasks(recordingOf({}))));
  const row = [
    0,
    cell(ERRED),
    cell(ERRED, 1),
    cell(RETRIED),
    cell(FIRST_NAME),
    cell(FIRST_NAME),
    0,
    cell(ERRED)
  ];
  Object.assign(grid, { width: 8, rows: 3, tasks: Uint32Array.from([...row, ...row, ...row]) });
  const rects: unknown[] = [];
  const pen = {
    fillStyle: '',
    fillRect(...place: number[]) {
      rects.push([this.fillStyle, ...place]);
    }
  };
  const plot = { x: 100, y: 0, width: 4, height: 30 };
  drawFailures(pen as unknown as Pen, grid, plot, 0.5, 10, PLAIN, at => at === 1);
  const erred = 'rgb(0,0,0)';
  const retried = 'rgb(70,70,76)';
  expect(rects).toEqual(
    [0, 20].flatMap(y => [
      [erred, 100.5, y, 1, 9],
      [retried, 101.5, y, 0.5, 9],
      [erred, 103.5, y, 0.5, 9]
    ])
  );
});
