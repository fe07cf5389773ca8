import { expect, test } from 'vitest';
import { recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { memory } from '../memory';
import { createStage } from '../stage';

test('a click on a line of each worker chooses that worker, whatever it is called', () => {
  const addresses = ['tcp://h:1', 'tcp://h:2'];
  const stage = createStage(
    recordingOf({
      workers: addresses.map((worker, at) => ({ worker, name: String(at), threads: 1 })),
      memory: addresses.map(worker => ({ worker, time: 1, process: 5, managed: 1 }))
    })
  );
  const surface = new Surface();
  surface.width = 800;
  const view = memory.create({ ...stage, surface, say: () => {} });
  const looks = view.controls?.[1] as HTMLSelectElement;
  looks.value = 'workers';
  looks.dispatchEvent(new Event('change'));
  surface.height = view.height(800);
  view.layout();
  const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
  const second = view.pick?.(plot.x + 5, plot.y + 0.75 * plot.height);
  expect(second?.card().title).toBe('worker 1');
  view.choose?.(second, { additive: false });
  expect(stage.selection.own('memory', 'worker')).toEqual(['tcp://h:2']);
  view.choose?.(second, { additive: false });
  expect(stage.selection.clauses).toEqual([]);
});
