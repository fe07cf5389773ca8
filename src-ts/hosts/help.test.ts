import { afterEach, expect, test, vi } from 'vitest';
import { recordingOf } from '../core/test-recording';
import type { Mounted } from '../panels/mount';
import { createStage } from '../panels/stage';
import { showKeys } from './help';
import { listenToKeys } from './keys';

afterEach(() => {
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

test('the list of keys stands within what it explains, and is gone when it is closed', () => {
  const where = document.createElement('section');
  document.body.append(where);
  showKeys(where);
  const dialog = where.querySelector('dialog');
  expect(dialog?.open).toBe(true);
  dialog?.querySelector<HTMLElement>('[aria-label=Close]')?.click();
  expect(document.querySelector('dialog')).toBeNull();
});

test('keys are called as they are on the computer', async () => {
  for (const [platform, keys] of [
    ['MacIntel', '⌘ + click'],
    ['Win32', 'Ctrl + click']
  ]) {
    vi.resetModules();
    vi.spyOn(navigator, 'platform', 'get').mockReturnValue(platform);
    const help = await import('./help');
    help.showKeys(document.body);
    expect([...document.querySelectorAll('dt')].map(each => each.textContent)).toContain(keys);
    document.body.replaceChildren();
  }
});

test('keys go to the list while it is open, in a shadow tree too; Esc puts a card away first', () => {
  const host = document.createElement('div');
  document.body.append(host);
  const where = document.createElement('section');
  host.attachShadow({ mode: 'open' }).append(where);
  const stage = createStage(recordingOf({}));
  stage.selection.set({ source: 'x', column: 'name', value: ['inc'] });
  let cards = 0;
  const panel = { dismiss: () => cards-- > 0 } as Mounted;
  const stop = listenToKeys(
    where,
    stage,
    () => [panel],
    () => showKeys(where)
  );
  let heard = 0;
  host.addEventListener('keydown', () => heard++);
  const press = (key: string): boolean =>
    where.dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true })
    );
  press('?');
  press('Escape');
  expect(stage.selection.clauses).toHaveLength(1);
  where.querySelector('dialog')?.close();
  cards = 1;
  press('Escape');
  expect(stage.selection.clauses).toHaveLength(1);
  press('Escape');
  expect(stage.selection.clauses).toHaveLength(0);
  // With nothing left to take back it is a key for the page around.
  heard = 0;
  expect(press('Escape')).toBe(true);
  expect(heard).toBe(1);
  stop();
});
