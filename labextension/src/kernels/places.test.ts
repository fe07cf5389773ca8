import type { IConsoleTracker } from '@jupyterlab/console';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { Kernel, Session } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { expect, test, vi } from 'vitest';
import type { LiveKernel, LiveKernels } from './live-kernel';
import { Places, type Shell } from './places';

const trackerOf = (...documents: readonly Widget[]) => ({
  forEach: documents.forEach.bind(documents),
  widgetAdded: new Signal<object, Widget>({}),
  currentWidget: documents[0] ?? null
});

/** What is in front of a person, as the shell tells it. */
class Front {
  readonly currentChanged = new Signal<object, object>({});
  currentWidget: Widget | null = null;
  become(widget: Widget): void {
    this.currentWidget = widget;
    this.currentChanged.emit({});
  }
}

/** A notebook or a console, as far as a place needs it. */
function documentOf(path: string): Widget {
  const sessionContext = {
    path,
    ...{ session: null, kernelDisplayStatus: 'idle', ready: Promise.resolve() },
    ...{ kernelChanged: new Signal({}), statusChanged: new Signal({}), propertyChanged: new Signal({}) }
  };
  const context = { path, pathChanged: new Signal({}) };
  return Object.assign(new Widget(), { context, sessionContext });
}

const model = { id: 's', kernel: { id: 'one' } } as Session.IModel;

function placesOf(
  kernels: LiveKernels,
  shell: Front,
  notebooks: object,
  consoles: object | null,
  sessions = {}
) {
  return new Places(
    kernels,
    sessions as Session.IManager,
    shell as unknown as Shell,
    notebooks as INotebookTracker,
    consoles as IConsoleTracker | null
  );
}

/** Places of kernels that are known by their connections. */
function placesWith(session: object) {
  const keep = vi.fn();
  const follow = (kernel: Kernel.IKernelConnection): LiveKernel =>
    ({ id: kernel.id, changed: new Signal({}), latest: { on: false } }) as unknown as LiveKernel;
  const connectTo = vi.fn((_: Session.ISessionConnection.IOptions) => session);
  const sessions = { ready: Promise.resolve(), findByPath: async () => model, connectTo };
  const kernels = { follow, keep } as unknown as LiveKernels;
  return {
    places: placesOf(kernels, new Front(), trackerOf(), null, sessions),
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

test('a person is at what is in front, also when they come back to it from another kind of document', () => {
  const [notebook, other, late] = ['a.ipynb', 'b.ipynb', 'c.ipynb'].map(documentOf);
  const terminal = documentOf('terminal');
  const console = documentOf('console-1');
  const [front, notebooks] = [new Front(), trackerOf(notebook, other)];
  const places = placesOf({ keep: vi.fn() } as unknown as LiveKernels, front, notebooks, trackerOf(console));
  const at = (): string | undefined => places.current?.path;
  expect(at()).toBe('a.ipynb');
  front.become(console);
  expect(at()).toBe('console-1');
  front.become(notebook);
  expect(at()).toBe('a.ipynb');
  front.become(terminal);
  expect(at()).toBe('a.ipynb');
  front.become(late);
  notebooks.widgetAdded.emit(late);
  expect(at()).toBe('c.ipynb');
  notebooks.widgetAdded.emit(documentOf('behind.ipynb'));
  expect(at()).toBe('c.ipynb');
});

test('a console is called what its tab is called', () => {
  const console = documentOf('console-1');
  console.title.label = 'Console';
  const kernels = { keep: vi.fn() } as unknown as LiveKernels;
  const places = placesOf(kernels, new Front(), trackerOf(), trackerOf(console));
  const told = vi.fn();
  places.changed.connect(told);
  expect(places.current?.name).toBe('Console');
  console.title.label = 'Console 2';
  expect([places.current?.name, told.mock.calls.length]).toEqual(['Console 2', 1]);
});
