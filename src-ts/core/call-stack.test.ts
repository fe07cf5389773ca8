import { expect, test } from 'vitest';
import { callStackOf } from './call-stack';
import { NOTHING } from './schema';
import { recordingOf } from './test-recording';

const DASK = '/env/lib/python3.12/site-packages/dask/_task_spec.py';

/** A chain of calls, the outermost first, and who was seen in which of them. */
const seen = (files: readonly string[], samples: readonly (readonly [run: number, stack: number])[]) =>
  recordingOf({
    stacks: files.map((file, stack) => ({
      stack,
      parent: stack > 0 ? stack - 1 : NOTHING,
      function: `f${stack}`,
      file,
      line: 10 + stack
    })),
    samples: samples.map(([run, stack], at) => ({ process: 'w', time: 100 + at, duration: 1, run, stack }))
  });

const names = (recording: ReturnType<typeof seen>, run: number): string[] | undefined =>
  callStackOf(recording, run)?.calls.map(({ name }) => name);

test('of a run the newest sample is told, the innermost call first, without what Dask called on the way', () => {
  const files = [DASK, DASK, '/home/me/work.py', DASK, '/usr/lib/python3.12/threading.py'];
  const recording = seen(files, [
    [7, 2],
    [7, 4],
    [8, 3]
  ]);
  const found = callStackOf(recording, 7);
  expect(found?.time).toBe(101);
  expect(found?.calls[0]).toEqual({ name: 'f4', file: files[4], line: 14 });
  expect(names(recording, 7)).toEqual(['f4', 'f3', 'f2']);
  expect(names(recording, 9)).toBeUndefined();
});

test('where nothing but Dask was called, the innermost call is told; of deep stacks the innermost', () => {
  expect(names(seen([DASK, DASK], [[1, 1]]), 1)).toEqual(['f1']);
  const deep = names(seen(Array(300).fill('/home/me/deep.py'), [[1, 299]]), 1);
  expect(deep?.length).toBe(12);
  expect(deep?.[0]).toBe('f299');
});

test('a stack that has not come, or that is its own caller, does no harm', () => {
  expect(names(seen(['/a.py'], [[1, 5]]), 1)).toBeUndefined();
  const circle = recordingOf({
    stacks: [{ stack: 3, parent: 3, function: 'f', file: '/a.py', line: 1 }],
    samples: [{ time: 1, run: 1, stack: 3 }]
  });
  expect(callStackOf(circle, 1)?.calls.length).toBeLessThanOrEqual(12);
});
