import { expect, it, vi } from 'vitest';
import { IdIndex } from '../../core/columns';
import { NOTHING } from '../../core/schema';
import { batchOf, recordingOf } from '../../core/test-recording';
import { progressWords } from './words';

it('how far a recording is that is being made is told from new rows alone', () => {
  const attempts = (...tasks: number[]) => tasks.map((task, run) => ({ run, task, status: 'ok' }));
  const recording = recordingOf({ attempts: attempts(7, 4) });
  const looked = vi.spyOn(IdIndex.prototype, 'get');
  const told = (): [string, number] => {
    looked.mockClear();
    return [progressWords({}, recording), looked.mock.calls.length];
  };
  expect(told()).toEqual(['2 tasks so far', 2]);
  recording.take(batchOf('attempts', [...attempts(4, 5, NOTHING), { run: 9, task: 6, status: 'erred' }]));
  expect(told()).toEqual(['3 tasks so far', 2]);
  expect(told()).toEqual(['3 tasks so far', 0]);
  recording.replace(recordingOf({ attempts: attempts(4) }));
  expect(told()).toEqual(['1 task so far', 1]);
});

it('samples that are not kept are said too, and a limit only where it was reached', () => {
  const told = (attempts: number, dropped: object): string =>
    progressWords({ clusters: [], history: { limit: 1000, attempts, dropped } }, recordingOf({}));
  expect(told(1000, { attempts: 1, phases: 3 })).toBe('1 older task not kept (limit 1,000)');
  expect(told(70, { attempts: 2, memory: 9 })).toBe('2 older tasks not kept · older samples not kept');
  expect(told(0, { resources: 9000, samples: 4000 })).toBe('older samples not kept');
});
