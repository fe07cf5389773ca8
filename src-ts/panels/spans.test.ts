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
