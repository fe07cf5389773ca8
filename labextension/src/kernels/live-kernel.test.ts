import type { LivePage } from '@dask-insight/panels/hosts/live-page';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
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

test('a kernel that rests goes on when a person is there who looks at it', () => {
  const link = new Link();
  const page = { needs: { onChange: vi.fn() }, dispose: vi.fn() };
  const live = new LiveKernel(page as unknown as LivePage, link as unknown as KernelLink);
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
