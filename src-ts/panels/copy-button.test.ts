import { afterEach, expect, test, vi } from 'vitest';
import { copyButton } from './copy-button';

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(document, 'execCommand');
  document.body.replaceChildren();
});

test.each([
  ['Copied', () => Promise.resolve()],
  ['Could not copy', () => Promise.reject(new Error('not allowed'))]
])(
  'it says in words and by a sign whether it copied, until the focus leaves it: %s',
  async (words, writeText) => {
    vi.stubGlobal('navigator', { clipboard: { writeText } });
    document.execCommand = () => false;
    const copy = copyButton('Copy table', () => 'a\tb');
    document.body.append(copy);
    const sign = (): string | null | undefined => copy.querySelector('path')?.getAttribute('d');
    const before = sign();
    copy.click();
    await vi.waitFor(() => expect(copy.getAttribute('aria-label')).toBe(words));
    expect([copy.title, sign() === before, document.activeElement === copy]).toEqual([words, false, true]);
    copy.blur();
    expect([copy.title, copy.getAttribute('aria-label'), sign()]).toEqual([
      'Copy table',
      'Copy table',
      before
    ]);
  }
);
