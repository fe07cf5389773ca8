import { expect, test } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { Surface } from '../draw/surface';
import { spans } from './spans';
import { createStage } from './stage';

test('a row chooses its span with all inside it, beside others, and takes them back', () => {
  const stage = createStage(
    recordingOf({
      spans: [
        { span: '1', name: 'load', parent: '', path: 'load' },
        { span: '2', name: 'clean', parent: '1', path: 'load / clean' },
        { span: '3', name: 'fit', parent: '', path: 'fit' }
      ]
    })
  );
  const view = spans.create({ ...stage, surface: new Surface(), say: () => {} });
  const press = (row: number): readonly string[] | undefined => {
    view.layout();
    view.below?.querySelectorAll<HTMLElement>('tbody button')[row].click();
    return stage.selection.own('spans', 'span');
  };
  expect(press(2)).toEqual(['3']);
  expect(press(0)).toEqual(['3', '1', '2']);
  expect(press(1)).toEqual(['3', '1']);
  expect(press(0)).toEqual(['3']);
});

test('how long a span took is told from first start to last end of all inside it, of each time that it was entered', () => {
  const ran = (run: number, start: number, stop: number) => ({
    run,
    task: run,
    worker: 'a',
    thread: String(run),
    status: 'ok',
    start,
    stop,
    done: stop
  });
  const stage = createStage(
    recordingOf({
      spans: [
        { span: '1', name: 'load', parent: '', path: 'load' },
        { span: '2', name: 'clean', parent: '1', path: 'load / clean' },
        { span: '3', name: 'fit', parent: '', path: 'fit' },
        { span: '4', name: 'load', parent: '', path: 'load' },
        { span: '5', name: 'load', parent: '', path: 'load' }
      ],
      graph: [
        { task: 1, key: 'a-1', prefix: 'a', span: '1' },
        { task: 2, key: 'b-2', prefix: 'b', span: '2' },
        { task: 3, key: 'a-3', prefix: 'a', span: '4' }
      ],
      attempts: [ran(1, 1, 4), ran(2, 2, 9), ran(3, 3600, 3602)]
    })
  );
  const view = spans.create({ ...stage, surface: new Surface(), say: () => {} });
  view.layout();
  const cells = [...(view.below?.querySelectorAll('tbody tr') ?? [])].map(row =>
    [...row.children].slice(0, 4).map(each => each.textContent?.replace(/\s/g, ' '))
  );
  expect(cells).toEqual([
    ['load', '3', '10 s', '12 s'],
    ['load / clean', '1', '7 s', '7 s'],
    ['fit', '0', '–', '0 s']
  ]);
});
