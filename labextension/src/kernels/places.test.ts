import type { INotebookTracker } from '@jupyterlab/notebook';
import type { Kernel, Session } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import type { LiveKernel, LiveKernels } from './live-kernel';
import { Places } from './places';

const notebooks = {
  forEach: () => undefined,
  widgetAdded: new Signal({}),
  currentChanged: new Signal({}),
  currentWidget: null
} as unknown as INotebookTracker;

const model = { id: 's', kernel: { id: 'one' } } as Session.IModel;

/** Places of kernels that are known by their connections. */
function placesWith(session: object) {
  const keep = vi.fn();
  const follow = (kernel: Kernel.IKernelConnection): LiveKernel =>
    ({ id: kernel.id, changed: new Signal({}), latest: { on: false } }) as unknown as LiveKernel;
  const connectTo = vi.fn((_: Session.ISessionConnection.IOptions) => session);
  const sessions = { ready: Promise.resolve(), findByPath: async () => model, connectTo };
  const kernels = { follow, keep } as unknown as LiveKernels;
  return {
    places: new Places(kernels, sessions as unknown as Session.IManager, notebooks, null),
    keep,
    connectTo
  };
}

const session = () => ({
  kernel: { id: 'one', isDisposed: false },
  kernelChanged: new Signal({}),
  statusChanged: new Signal({})
});

test('the connection of a closed document leaves the comms to others', async () => {
  const { places, connectTo } = placesWith(session());
  await places.seek(places.named('notebook', 'a.ipynb'));
  expect(connectTo).toHaveBeenCalledWith({ model, kernelConnectionOptions: { handleComms: false } });
});

test('what a kernel has sent is let go of when another one takes its place', async () => {
  const running = session();
  const { places, keep } = placesWith(running);
  const place = places.named('notebook', 'a.ipynb');
  await places.seek(place);
  expect(keep).not.toHaveBeenCalled();
  running.kernel = { id: 'two', isDisposed: false };
  running.kernelChanged.emit(undefined);
  expect(keep).toHaveBeenLastCalledWith(new Set([place.live]));
  expect(place.live?.id).toBe('two');
});
