import { expect, test } from 'vitest';
import { functionOf, functionsOf, placeWords } from './functions-of';
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

test('functions are found by task name, each once', () => {
  const inc = {
    prefix: 'inc',
    function: 'inc',
    module: 'm',
    file: '/home/me/m.py',
    line: 7,
    source: 'definition'
  };
  const recording = recordingOf({
    functions: [
      inc,
      inc,
      { prefix: 'inc', function: 'dec', source: 'sampled' },
      { prefix: 'sum', function: 'sum' }
    ]
  });
  expect(functionsOf(recording, 'inc').map(({ name, sampled }) => [name, sampled])).toEqual([
    ['inc', false],
    ['dec', true]
  ]);
  expect(functionOf(recording, 'inc')).toMatchObject({ module: 'm', line: 7 });
  expect(functionOf(recording, 'nobody')).toBeUndefined();
  expect(placeWords(functionsOf(recording, 'inc')[0])).toBe('me/m.py:7');
  expect(placeWords({ file: 'In [5]', line: 2 })).toBe('In [5]:2');
  expect(placeWords({ file: '', line: 0 })).toBe('');
  recording.take(batchOf('functions', [{ prefix: 'late', function: 'f', file: 'f.py' }]));
  expect(placeWords(functionsOf(recording, 'late')[0])).toBe('f.py');
});
