import { expect, test } from 'vitest';
import { choice, element, setHidden, setOptions, setWords } from './element';

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

test('a choice of the same options keeps its elements; of others it keeps what is chosen, if that is among them', () => {
  const made = choice('Unit', [], () => {});
  setOptions(made, [['s', 'seconds']]);
  expect(made.value).toBe('s');
  setOptions(made, [
    ['s', 'seconds'],
    ['b', 'bytes']
  ]);
  made.value = 'b';
  const before = [...made.options];
  setOptions(made, [
    ['s', 'seconds'],
    ['b', 'bytes']
  ]);
  expect([...made.options].every((option, at) => option === before[at])).toBe(true);
  setOptions(made, [
    ['b', 'bytes sent'],
    ['c', 'count']
  ]);
  expect([made.value, made.options[0].textContent]).toEqual(['b', 'bytes sent']);
  setOptions(made, [['c', 'count']]);
  expect(made.value).toBe('c');
});
