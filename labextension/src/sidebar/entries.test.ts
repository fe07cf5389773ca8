import { PANELS } from '@dask-insight/panels/panels/index';
import { beforeEach, expect, test, vi } from 'vitest';
import { Entries } from './entries';
import { SEARCH_WORDS } from './search-words';

// JupyterLab's icons come with its whole toolkit, which wants more of a browser than there is here.
vi.mock('../icons', () => ({
  panelIcon: () => ({ element: ({ tag }: { tag: string }) => document.createElement(tag) })
}));

const open = vi.fn();
let entries: Entries;

const shown = (): string[] =>
  [...entries.element.querySelectorAll<HTMLElement>('li')]
    .filter(item => !item.hidden)
    .map(item => item.textContent as string);

const press = (key: string): void => {
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
};

beforeEach(() => {
  open.mockClear();
  entries = new Entries(PANELS, { open, press: vi.fn() });
  document.body.replaceChildren(entries.element);
  entries.show(true, new Set());
});

test('there is one entry for each panel', () => {
  expect(shown()).toEqual(PANELS.map(({ title }) => title));
});

test('the search box leaves what matches, and Enter opens the first', () => {
  entries.search.value = 'STREAM';
  entries.search.dispatchEvent(new Event('input'));
  expect(shown()).toEqual(['Task stream']);
  entries.search.focus();
  press('Enter');
  expect(open.mock.calls.map(([panel]) => panel.id)).toEqual(['task-stream']);
  press('Escape');
  expect(shown()).toHaveLength(PANELS.length);
});

test('panels are found by what they show too', () => {
  entries.search.value = 'cpu';
  entries.search.dispatchEvent(new Event('input'));
  expect(shown()).toEqual(['Resources']);
  expect(Object.keys(SEARCH_WORDS).sort()).toEqual(PANELS.map(({ id }) => id).sort());
});

test.each(Object.entries({ isComposing: true, keyCode: 229 }))(
  'keys that put a sign together open nothing: %s',
  (name, value) => {
    const composing = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true });
    Object.defineProperty(composing, name, { value });
    entries.search.dispatchEvent(composing);
    expect(open).not.toHaveBeenCalled();
  }
);

test('says so when nothing matches', () => {
  entries.search.value = 'nothing of this kind';
  entries.search.dispatchEvent(new Event('input'));
  expect(entries.element.querySelector<HTMLElement>('.di-hint')?.hidden).toBe(false);
});

test('arrow keys walk from the box through the entries and back', () => {
  entries.search.focus();
  press('ArrowDown');
  expect(document.activeElement?.textContent).toBe(PANELS[0].title);
  press('End');
  expect(document.activeElement?.textContent).toBe(PANELS.at(-1)?.title);
  press('Home');
  press('ArrowUp');
  expect(document.activeElement).toBe(entries.search);
});

test('a drag is offered only where there is somewhere to drop it', () => {
  const words = (): string[] => [...entries.element.querySelectorAll('button')].map(({ title }) => title);
  const draggable = (): number => entries.element.querySelectorAll('[data-draggable]').length;
  expect(words()[0]).toBe(`Open ${PANELS[0].title}; drag it to any place`);
  expect(draggable()).toBe(PANELS.length);
  entries = new Entries(PANELS, { open });
  entries.show(true, new Set());
  expect(words()[0]).toBe(`Open ${PANELS[0].title}`);
  expect(draggable()).toBe(0);
});

test('without a place for panels nothing can be opened', () => {
  entries.show(false, new Set());
  entries.element.querySelector<HTMLButtonElement>('.di-entry')?.click();
  expect(open).not.toHaveBeenCalled();
});
