import { LivePage } from '@dask-insight/panels/hosts/live-page';
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { KernelLink } from '../link/kernel-links';
import { LiveKernel } from './live-kernel';

/** As much of a link as a live kernel uses. */
class Link {
  readonly changed = new Signal<this, void>(this);
  readonly setVisible = vi.fn();
  readonly wake = vi.fn();
  readonly dispose = vi.fn();
  state: object = {};

  say(state: object): void {
    this.state = state;
    this.changed.emit();
  }
}

let link: Link;
let live: LiveKernel;

beforeEach(() => {
  link = new Link();
  live = new LiveKernel(new LivePage(), link as unknown as KernelLink);
});

afterEach(() => {
  live.dispose();
  vi.restoreAllMocks();
});

test('a kernel that rests goes on when a person is there who looks at it', () => {
  const press = (): boolean => document.body.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true }));
  live.show('panel', true);
  press();
  link.say({ resting: true });
  live.show('panel', false);
  press();
  expect(link.wake).not.toHaveBeenCalled();
  live.show('panel', true);
  press();
  press();
  expect(link.wake).toHaveBeenCalledOnce();
  link.say({ resting: false });
  link.say({ resting: true });
  document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
  expect(link.wake).toHaveBeenCalledTimes(2);
  link.say({ resting: true });
  document.body.dispatchEvent(new Event('wheel', { bubbles: true }));
  expect(link.wake).toHaveBeenCalledTimes(3);
  live.dispose();
  link.say({ resting: true });
  press();
  expect(link.wake).toHaveBeenCalledTimes(3);
});

test('a kernel sends while anybody looks at it, in a page that is in sight', () => {
  const hidden = vi.spyOn(document, 'hidden', 'get');
  const told = (): unknown[] => link.setVisible.mock.calls.splice(0).map(([visible]) => visible);
  const turn = (away: boolean): void => {
    hidden.mockReturnValue(away);
    document.dispatchEvent(new Event('visibilitychange'));
  };
  expect(told()).toEqual([false]);
  live.show('panel', true);
  live.show('sidebar', true);
  turn(true);
  turn(false);
  expect(told()).toEqual([true, true, false, true]);
  live.show('panel', false);
  live.show('sidebar', false);
  turn(true);
  turn(false);
  expect(told()).toEqual([true, false, false, false]);
  live.dispose();
  turn(true);
  expect(told()).toEqual([]);
});

test('a kernel tells when its page begins or ends to go along with the latest cell', () => {
  const told = vi.fn();
  live.changed.connect(told);
  live.latest.on = true;
  expect(told).toHaveBeenCalledOnce();
});
