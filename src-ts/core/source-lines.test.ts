import { expect, test } from 'vitest';
import { functionOf, placeWords } from './functions-of';
import { Recording } from './recording';
import { sourceLines } from './source-lines';
import { batchOf, recordingOf } from './test-recording';

test('lines are found by file and number, also those that come later', () => {
  const recording = recordingOf({ lines: [{ file: 'a.py', line: 3, text: 'x = 1' }] });
  expect(sourceLines(recording).text('a.py', 3)).toBe('x = 1');
  expect(sourceLines(recording).text('a.py', 4)).toBe('');
  expect(sourceLines(recording).text('b.py', 3)).toBe('');
  recording.take(batchOf('lines', [{ file: 'b.py', line: 3, text: 'y' }]));
  expect(sourceLines(recording).text('b.py', 3)).toBe('y');
  recording.replace(new Recording());
  expect(sourceLines(recording).text('a.py', 3)).toBe('');
});

test('the most telling function of a task name is the one that came first', () => {
  const inc = { prefix: 'inc', function: 'inc', module: 'm', file: '/home/me/m.py', line: 7 };
  const recording = recordingOf({
    functions: [inc, { ...inc, function: 'dec', line: 9 }, { prefix: 'sum', function: 'sum' }]
  });
  const placeOf = (name: string): string => placeWords(functionOf(recording, name) ?? { file: '', line: 0 });
  expect(functionOf(recording, 'inc')).toEqual(inc);
  expect(functionOf(recording, 'nobody')).toBeUndefined();
  expect(['inc', 'sum'].map(placeOf)).toEqual(['me/m.py:7', '']);
  expect(placeWords({ file: 'In [5]', line: 2 })).toBe('In [5]:2');
  recording.take(batchOf('functions', [{ prefix: 'late', function: 'f', file: 'f.py' }]));
  expect(placeOf('late')).toBe('f.py');
});
