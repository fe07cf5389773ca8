import { afterEach, expect, test } from 'vitest';
import { focusIn } from './focus';

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

test('what stands in no page has no focus', () => {
  expect(focusIn(buttonIn(document.createElement('div')))).toBeUndefined();
});
