import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { button, element } from './element';
import { menuUnder } from './menu';

const filled = vi.fn();
let summary: HTMLElement;
let inside: HTMLElement;
let outside: HTMLElement;
let box: HTMLElement;
let menu: HTMLDetailsElement;

beforeEach(() => {
  filled.mockClear();
  summary = element('summary', { tabindex: 0 }, 'Measures');
  inside = button('CPU', () => {});
  outside = button('Elsewhere', () => {});
  box = element('div', {}, inside);
  menu = menuUnder(summary, box, filled);
  document.body.replaceChildren(menu, outside);
  menu.open = true;
});

afterEach(() => document.body.replaceChildren());

const press = (where: HTMLElement): boolean =>
  where.dispatchEvent(new Event('pointerdown', { bubbles: true, composed: true }));

test('is filled when it opens', () => {
  expect(filled).toHaveBeenCalledOnce();
});

test('stays for what is pressed in it, and goes with what is pressed elsewhere', () => {
  press(inside);
  expect(menu.open).toBe(true);
  press(outside);
  expect(menu.open).toBe(false);
});

test('listens to the page only while it is open', () => {
  const removed = vi.spyOn(document, 'removeEventListener');
  menu.open = false;
  expect(removed.mock.calls.map(([type]) => type)).toContain('pointerdown');
  removed.mockRestore();
});

test('Esc closes it and gives its button the focus', () => {
  inside.focus();
  inside.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  expect(menu.open).toBe(false);
  expect(document.activeElement).toBe(summary);
});

test.each([
  [-40, true],
  [20, false]
])('opens to the right where it would begin at %s', (left, toRight) => {
  vi.spyOn(box, 'getBoundingClientRect').mockReturnValue({ left } as DOMRect);
  menu.dispatchEvent(new Event('toggle'));
  expect(box.classList.contains('di-to-right')).toBe(toRight);
});
