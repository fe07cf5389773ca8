import type { Kernel, Session } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import type { LiveKernel, LiveKernels } from './live-kernel';
import { Place } from './place';

/** As much of a session as a place uses. */
class Running {
  readonly kernelChanged = new Signal<this, void>(this);
  readonly statusChanged = new Signal<this, void>(this);
  readonly dispose = vi.fn(() => this.run(null));

  constructor(public kernel: Kernel.IKernelConnection | null) {}

  run(kernel: Kernel.IKernelConnection | null): void {
    this.kernel = kernel;
    this.kernelChanged.emit();
  }
}

const kernel = (id: string) => ({ id, isDisposed: false }) as Kernel.IKernelConnection;
const lent = (running: Running) => running as unknown as Session.ISessionConnection;

function placeOf(): Place {
  const byId = new Map<string, LiveKernel>();
  const follow = ({ id }: Kernel.IKernelConnection): LiveKernel => {
    const live =
      byId.get(id) ?? ({ id, changed: new Signal({}), latest: { on: false } } as unknown as LiveKernel);
    byId.set(id, live);
    return live;
  };
  return new Place('notebook', 'a.ipynb', { follow } as unknown as LiveKernels);
}

test('while its document is closed it hears that its kernel is another one, changes or goes', () => {
  const place = placeOf();
  const running = new Running(kernel('one'));
  place.lend(lent(running));
  const told = vi.fn();
  place.changed.connect(told);
  running.run(kernel('two'));
  expect(place.live?.id).toBe('two');
  running.statusChanged.emit();
  expect(told).toHaveBeenCalledTimes(2);
  running.run(null);
  expect(told).toHaveBeenCalledTimes(3);
  expect([place.kernel, place.live?.id]).toEqual([undefined, 'two']);
});

test('it hears nothing more of a session that it has given back', () => {
  const place = placeOf();
  const running = new Running(kernel('one'));
  place.lend(lent(running));
  place.lend(lent(new Running(kernel('two'))));
  const told = vi.fn();
  place.changed.connect(told);
  running.run(kernel('three'));
  expect(running.dispose).toHaveBeenCalledOnce();
  expect(told).not.toHaveBeenCalled();
  expect(place.live?.id).toBe('two');
});

test('it tells when it shows another kernel, after everybody has heard which', () => {
  const place = placeOf();
  const told: string[] = [];
  place.changed.connect(() => told.push('changed'));
  place.replaced.connect(() => told.push('replaced'));
  const running = new Running(kernel('one'));
  place.lend(lent(running));
  expect(told).toEqual(['changed']);
  running.run(kernel('two'));
  expect(told).toEqual(['changed', 'changed', 'replaced']);
  running.run(null);
  expect(told.slice(3)).toEqual(['changed']);
});

test('the latest cell is followed of whichever kernel it has, until nobody wants to any more', () => {
  const place = placeOf();
  place.latest = true;
  const running = new Running(kernel('one'));
  place.lend(lent(running));
  const one = place.live;
  expect(one?.latest.on).toBe(true);
  running.run(kernel('two'));
  expect(place.live?.latest.on).toBe(true);
  if (place.live) place.live.latest.on = false;
  expect(place.latest).toBe(false);
  running.run(kernel('three'));
  expect(place.live?.latest.on).toBe(false);
});
