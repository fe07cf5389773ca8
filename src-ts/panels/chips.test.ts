import { expect, test, vi } from 'vitest';
import { batchOf, recordingOf } from '../core/test-recording';
import { clauseWords, fillChips } from './chips';
import { element } from './element';
import { findings } from './findings';
import { resources } from './resources';
import { createStage } from './stage';

test('a chip of task names counts names, which may have any number of tasks', () => {
  const stage = createStage(recordingOf({}));
  const words = (...value: string[]): string => clauseWords({ source: 'x', column: 'name', value }, stage);
  expect(words('inc', 'sum')).toBe('2 task names');
  expect(words('inc')).toBe('inc');
});

test('a chip of spans counts each once, however often it was entered and whatever is inside; one has its name', () => {
  const spans = [
    { span: '1', name: 'load', parent: '', path: 'load' },
    { span: '2', name: 'clean', parent: '1', path: 'load / clean' },
    { span: '3', name: 'load', parent: '', path: 'load' },
    { span: '4', name: 'clean', parent: '3', path: 'load / clean' },
    { span: '5', name: 'default', parent: '', path: 'default' },
    { span: '6', name: 'fit', parent: '', path: 'fit' }
  ];
  const graph = [{ task: 0, span: '5', submission: 7 }];
  const submissions = [{ submission: 7, time: 102, execution: 3 }];
  const about = [{ name: 'started', value: '100' }];
  const stage = createStage(recordingOf({ about, spans, graph, submissions }));
  const words = (...value: string[]): string => clauseWords({ source: 'x', column: 'span', value }, stage);
  expect(words('1', '2', '3', '4')).toBe('span load');
  expect(words('2', '4')).toBe('span load / clean');
  expect(words('1', '2', '3', '4', '6')).toBe('2 spans');
  expect(words('3')).toBe('span load');
  expect(words('5')).toBe('no span, cell [3], at 2\u2009s');
});

test('a span that was entered thousands of times is told of without looking for each in a list', () => {
  const ids = Array.from({ length: 4000 }, (_, id) => String(id));
  const batch = batchOf(
    'spans',
    ids.map(() => ({ name: 'load', parent: '', path: 'load' }))
  );
  const span = { kind: 'sym', codes: Uint32Array.from(ids.keys()), names: ids } as const;
  const stage = createStage(recordingOf({}));
  const columns = new Map([...batch.columns, ['span', { kind: 'sym', size: 0, read: () => span }]]);
  stage.recording.take({ ...batch, columns });
  const searches = [vi.spyOn(Array.prototype, 'includes'), vi.spyOn(Array.prototype, 'indexOf')];
  const told = clauseWords({ source: 'x', column: 'span', value: ids }, stage);
  const searched = searches.map(search => search.mock.calls.length);
  for (const search of searches) search.mockRestore();
  expect(told).toBe('span load');
  expect(Math.max(...searched)).toBeLessThan(100);
});

test('a chip stands only where it narrows something or was chosen, and says no more than that', () => {
  const stage = createStage(recordingOf({}));
  const box = element('div');
  const titles = (panel: typeof findings): string[] => {
    fillChips(box, panel, stage);
    return [...box.children].map(chip => (chip as HTMLElement).title);
  };
  stage.selection.choose('findings', 'name', ['inc'], false);
  stage.selection.choose('functions', 'name', ['sum'], false);
  expect(titles(findings)).toEqual(['inc: chosen here, narrows the other panels']);
  expect(titles(resources)).toEqual(['inc: chosen', 'sum: chosen']);
});
