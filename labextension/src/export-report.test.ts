import { Notification } from '@jupyterlab/apputils';
import { expect, test, vi } from 'vitest';
import { exportReport } from './export-report';
import type { Place } from './kernels/place';

vi.mock('@jupyterlab/apputils', () => ({ Notification: { promise: vi.fn(() => '') } }));

/** A notebook whose kernel answers each request to execute something with the next of these. */
function answering(...answers: readonly object[]) {
  const left = [...answers];
  const requestExecute = vi.fn(() => ({ done: Promise.resolve({ content: left.shift() }) }));
  const place = { name: 'a.ipynb', path: 'a.ipynb', kernel: { status: 'busy', requestExecute } };
  return { place: place as unknown as Place, requestExecute };
}

const ABORTED = { status: 'aborted' };
const WRITTEN = {
  status: 'ok',
  user_expressions: { path: { status: 'ok', data: { 'text/plain': "'/there/a.html'" } } }
};

/** What a person is told in the end. */
async function told(place: Place): Promise<string> {
  await exportReport(place);
  const [written, words] = vi.mocked(Notification.promise).mock.lastCall as Parameters<
    typeof Notification.promise
  >;
  return written.then(
    path => words.success.message(path),
    reason => words.error.message(reason)
  );
}

test('a report that a failing cell has taken out of the queue is asked for again', async () => {
  const { place, requestExecute } = answering(ABORTED, WRITTEN);
  expect(await told(place)).toBe('Report saved: /there/a.html');
  expect(requestExecute).toHaveBeenCalledTimes(2);
});

test('it is asked for again only once', async () => {
  const { place, requestExecute } = answering(ABORTED, ABORTED);
  expect(await told(place)).toBe('The report was not saved: the kernel did not answer');
  expect(requestExecute).toHaveBeenCalledTimes(2);
});
