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

test('what many panels say at once is spoken by one voice, and again when it holds again', () => {
  const notices = [new Notice(), new Notice(), new Notice()];
  for (const { element } of notices) document.body.append(element);
  notices[2].element.getClientRects = () => [] as never;
  const voice = (): string[] =>
    [...document.querySelectorAll('[aria-live]')].map(({ textContent }) => textContent ?? '');
  const absent = { kind: 'absent', words: 'Load it:', code: '%load_ext dask_insight' } as const;
  for (const notice of notices) notice.show(absent);
  expect(voice()).toEqual(['Load it: %load_ext dask_insight']);
  const observer = new MutationObserver(() => {});
  observer.observe(document.querySelector('[aria-live]') as Element, { childList: true });
  for (const notice of notices) notice.show({ kind: 'waiting', words: '30 %' });
  notices[2].show({ kind: 'kernel', words: 'It is gone.' });
  expect(voice()).toEqual(['Load it: %load_ext dask_insight']);
  expect(observer.takeRecords()).toEqual([]);
  for (const notice of notices) notice.show({ kind: 'well', words: '' });
  expect(voice()).toEqual(['']);
  notices[0].show(absent);
  expect(voice()).toEqual(['Load it: %load_ext dask_insight']);
  observer.disconnect();
});
