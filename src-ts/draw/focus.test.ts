import { afterEach, expect, test } from 'vitest';
import { focusIn, keepFocus } from './focus';

afterEach(() => document.body.replaceChildren());

function buttonIn(tree: ParentNode): HTMLElement {
  const list = document.createElement('div');
  list.append(document.createElement('button'));
  tree.append(list);
  return list;
}

test('the focus is found in a page and in a shadow tree, and not where it is not', () => {
  const host = document.createElement('div');
  document.body.append(host);
  for (const tree of [document.body, host.attachShadow({ mode: 'open' })]) {
    const [list, other] = [buttonIn(tree), buttonIn(tree)];
    expect(focusIn(list)).toBeUndefined();
    list.querySelector('button')?.focus();
    expect(focusIn(list)).toBe(list.firstElementChild);
    expect(focusIn(other)).toBeUndefined();
  }
});

test('of buttons that say the same the one that had the focus has it again, the last one if there are fewer', () => {
  const list = document.createElement('div');
  document.body.append(list);
  const make = (words: readonly string[]): void =>
    list.replaceChildren(
      ...words.map(each => Object.assign(document.createElement('button'), { textContent: each }))
    );
  const at = (): number => [...list.children].indexOf(document.activeElement as Element);
  make(['a', 'b', 'b']);
  (list.lastElementChild as HTMLElement).focus();
  keepFocus(list, () => make(['b', 'a', 'b', 'b']));
  expect(at()).toBe(2);
  keepFocus(list, () => make(['a', 'b']));
  expect(at()).toBe(1);
  keepFocus(list, () => make(['a']));
  expect(at()).toBe(-1);
});

test('what stands in no page has no focus', () => {
  expect(focusIn(buttonIn(document.createElement('div')))).toBeUndefined();
});
