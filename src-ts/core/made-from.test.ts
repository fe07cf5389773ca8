import { expect, test, vi } from 'vitest';
import { madeFrom } from './made-from';
import type { Recording } from './recording';
import { batchOf, recordingOf } from './test-recording';

const first = [{ submission: 1, client: 'a' }];
const second = [{ submission: 2, client: 'a' }];

test('what is made of tables is made again only when their rows arrive or are replaced', () => {
  const make = vi.fn((recording: Recording) => recording.table('submissions').rows);
  const rows = madeFrom(['submissions'], make);
  const recording = recordingOf({ submissions: first });
  expect([rows(recording), rows(recording)]).toEqual([1, 1]);
  recording.take(batchOf('edges', [{ task: 1, dependency: 0 }]));
  expect(rows(recording)).toBe(1);
  expect(make).toHaveBeenCalledTimes(1);

  recording.take(batchOf('submissions', second));
  expect([rows(recording), rows(recording)]).toEqual([2, 2]);
  recording.replace(recordingOf({ submissions: [...first, ...second] }));
  rows(recording);
  expect(make).toHaveBeenCalledTimes(3);
});

test('each recording has its own', () => {
  const rows = madeFrom(['submissions'], recording => recording.table('submissions').rows);
  const [one, two] = [
    recordingOf({ submissions: first }),
    recordingOf({ submissions: [...first, ...second] })
  ];
  expect([rows(one), rows(two), rows(one)]).toEqual([1, 2, 1]);
});
