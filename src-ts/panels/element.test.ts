import { expect, test } from 'vitest';
import { element, setHidden, setWords } from './element';

test('what stands already is not written again, so that the page lays out nothing', () => {
  const line = element('p', { hidden: true }, 'nothing yet');
  const observer = new MutationObserver(() => {});
  observer.observe(line, { attributes: true, childList: true });
  setHidden(line, true);
  setWords(line, 'nothing yet');
  expect(observer.takeRecords()).toHaveLength(0);
  setHidden(line, false);
  setWords(line, '3 tasks');
  expect(observer.takeRecords().length).toBeGreaterThanOrEqual(2);
  expect(line.hidden).toBe(false);
  expect(line.textContent).toBe('3 tasks');
});
