import { type CellChoice, LivePage } from '@dask-insight/panels/hosts/live-page';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import { LatestCell } from '../kernels/latest-cell';
import type { LiveKernel, LiveKernels } from '../kernels/live-kernel';
import { Place } from '../kernels/place';
import { tools } from './tools';

vi.mock('../icons', () => ({ reportIcon: { element: () => document.createElement('span') } }));

test('a report is offered as long as the kernel answers', () => {
  const kernel = { isDisposed: false } as Kernel.IKernelConnection;
  const live = { loaded: true, changed: new Signal<object, void>({}) };
  const place = new Place('notebook', 'a.ipynb', {
    follow: () => live as unknown as LiveKernel
  } as unknown as LiveKernels);
  const session = {
    kernel: kernel as Kernel.IKernelConnection | null,
    kernelChanged: new Signal({}),
    statusChanged: new Signal({}),
    dispose: () => undefined
  };
  const lend = () => place.lend(session as unknown as Parameters<Place['lend']>[0]);
  lend();
  const exported = vi.fn();
  const page = new LivePage();
  const { element } = tools({ page, latest: new LatestCell(page) } as LiveKernel, place, exported);
  const report = element.querySelector<HTMLButtonElement>('[aria-label="Save as a report"]');
  const pressed = (): boolean => {
    exported.mockClear();
    report?.click();
    return exported.mock.calls.length > 0;
  };
  expect(pressed()).toBe(true);
  live.loaded = false;
  live.changed.emit();
  expect(pressed()).toBe(false);
  expect(report?.getAttribute('aria-disabled')).toBe('true');
  live.loaded = true;
  live.changed.emit();
  expect(pressed()).toBe(true);
  session.kernel = null;
  lend();
  expect(pressed()).toBe(false);
});

test('the latest cell is one of those that can be chosen', () => {
  const page = new LivePage();
  const latest = new LatestCell(page);
  vi.spyOn(latest, 'cells').mockReturnValue([
    { execution: -1, words: 'Latest cell', hasTasks: true } as CellChoice
  ]);
  const place = { changed: new Signal({}) } as unknown as Place;
  const { element } = tools({ page, latest } as LiveKernel, place, () => undefined);
  expect([...element.querySelectorAll('option')].map(({ text }) => text)).toContain('Latest cell');
});
