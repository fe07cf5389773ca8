import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Tooltip } from './tooltip';

const CARD = {
  title: '<b>score</b>',
  groups: [[{ label: 'Key', value: 'score-1', copy: 'score-1-2-3' }]]
};
const PLACE = { x: 10, y: 10, width: 20, height: 20 };

const unpinned = vi.fn();
let tooltip: Tooltip;

beforeEach(() => {
  unpinned.mockClear();
  tooltip = new Tooltip(document.body, unpinned);
  tooltip.show(CARD, PLACE);
});

afterEach(() => {
  tooltip.dispose();
  vi.restoreAllMocks();
  Reflect.deleteProperty(document, 'execCommand');
});

test('a card says what is known as text, never as markup', () => {
  expect(tooltip.element.querySelector('b')).toBeNull();
  expect(tooltip.element.querySelector('.di-card-name')?.textContent).toBe('<b>score</b>');
});

test('a card that is pinned again has one way to close it', () => {
  tooltip.pin();
  tooltip.pin();
  expect(tooltip.element.querySelectorAll('.di-card-close')).toHaveLength(1);
});

test('a pinned card is a dialog with a name, and is none when it is gone', () => {
  tooltip.pin();
  expect(tooltip.element.getAttribute('role')).toBe('dialog');
  expect(tooltip.element.getAttribute('aria-label')).toBe('<b>score</b>');
  tooltip.hide();
  expect(tooltip.element.getAttribute('role')).toBe('tooltip');
  expect(tooltip.element.hasAttribute('aria-label')).toBe(false);
});

test('what is copied from a card has the focus after it, where the page has no clipboard too', async () => {
  document.execCommand = () => {
    document.querySelector('textarea')?.focus();
    return true;
  };
  vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('not allowed'));
  tooltip.pin();
  const copy = tooltip.element.querySelector<HTMLElement>('.di-copy');
  copy?.click();
  await vi.waitFor(() => expect(copy?.textContent).toBe('Copied'));
  expect(document.activeElement).toBe(copy);
});

test('who is elsewhere once something is copied stays there', async () => {
  vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  tooltip.pin();
  const [copy, close] = tooltip.element.querySelectorAll<HTMLElement>('button');
  copy.click();
  expect(document.activeElement).toBe(copy);
  close.focus();
  await vi.waitFor(() => expect(copy.textContent).toBe('Copied'));
  expect(document.activeElement).toBe(close);
});

test.each([
  ['its button', () => tooltip.element.querySelector<HTMLElement>('.di-card-close')?.click()],
  [
    'Esc within it',
    () =>
      tooltip.element
        .querySelector('.di-copy')
        ?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
  ]
])('a pinned card is closed by %s, and its owner hears of it', (_, close) => {
  tooltip.pin();
  close();
  expect(tooltip.element.hidden).toBe(true);
  expect(tooltip.pinned).toBe(false);
  expect(unpinned).toHaveBeenCalledOnce();
});
