import { afterEach, expect, test, vi } from 'vitest';
import { Notice } from './notice';

afterEach(() => vi.unstubAllGlobals());

test('code is copied where the page has no clipboard, as over plain http', async () => {
  vi.stubGlobal('navigator', {});
  let copied = '';
  document.execCommand = () => {
    copied = document.querySelector('textarea')?.value ?? '';
    return true;
  };
  const notice = new Notice();
  notice.show({ kind: 'absent', words: 'Load it.', code: '%load_ext dask_insight' });
  const copy = notice.element.querySelector('button');
  copy?.click();
  await vi.waitFor(() => expect(copy?.textContent).toBe('Copied'));
  expect(copied).toBe('%load_ext dask_insight');
});
