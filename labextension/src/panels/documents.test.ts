import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import type { LiveKernels } from '../kernels/live-kernel';
import { Place } from '../kernels/place';
import type { Places } from '../kernels/places';
import { Documents } from './documents';

vi.mock('../icons', () => ({ panelIcon: () => undefined }));

/** As much of them as panels need. */
vi.mock('@jupyterlab/apputils', async () => {
  const { Widget } = await import('@lumino/widgets');
  class MainAreaWidget extends Widget {
    readonly toolbar = new Widget();
    readonly content;
    constructor({ content }: { content: unknown }) {
      super();
      this.content = content;
    }
  }
  class WidgetTracker {
    readonly save = vi.fn(async () => undefined);
    private readonly all = new Set<InstanceType<typeof Widget>>();
    async add(widget: InstanceType<typeof Widget>): Promise<void> {
      this.all.add(widget);
      widget.disposed.connect(() => this.all.delete(widget));
    }
    forEach(callback: (widget: InstanceType<typeof Widget>) => void): void {
      this.all.forEach(callback);
    }
  }
  return { MainAreaWidget, WidgetTracker };
});

function documentsOf(known: object) {
  const shell = {
    add: vi.fn(),
    currentChanged: new Signal<object, object>({}),
    currentWidget: undefined as object | undefined
  };
  const app = { restored: Promise.resolve(), shell } as unknown as JupyterFrontEnd;
  const places = {
    closed: new Signal<object, Place>({}),
    documentOf: () => undefined,
    current: undefined as Place | undefined,
    ...known
  };
  return {
    shell,
    places,
    documents: new Documents(app, places as unknown as Places, true, () => undefined),
    place: new Place('notebook', 'a.ipynb', {} as LiveKernels)
  };
}

test('with the last panel of a document that is closed its place is let go of', () => {
  const keep = vi.fn();
  const { documents, place } = documentsOf({ keep });
  const [first, last] = ['functions', 'events'].map(id => documents.made(id, place));
  first.dispose();
  expect(keep).toHaveBeenLastCalledWith(new Set([place]));
  last.dispose();
  expect(keep).toHaveBeenLastCalledWith(new Set());
});

test('whoever has a panel in front of them is at its document; a panel that opens elsewhere changes nothing', () => {
  const { documents, place, places, shell } = documentsOf({ keep: vi.fn() });
  const panel = documents.made('functions', place);
  shell.currentWidget = {};
  shell.currentChanged.emit({});
  expect(places.current).toBeUndefined();
  shell.currentWidget = panel;
  shell.currentChanged.emit({});
  expect(places.current).toBe(place);
  panel.dispose();
});

test('for a panel whose document is not open the kernel is looked for, unless it has gone by then', async () => {
  const seek = vi.fn();
  const { documents, place } = documentsOf({ keep: vi.fn(), seek });
  const [kept, gone] = ['functions', 'events'].map(id => documents.open(id, place, { activate: false }));
  gone.dispose();
  await Promise.resolve();
  expect(seek.mock.calls).toEqual([[place]]);
  kept.dispose();
});

test('whether the latest cell is followed is saved with each panel when that changes', () => {
  const { documents, place } = documentsOf({ keep: vi.fn() });
  const panels = ['functions', 'events'].map(id => documents.made(id, place));
  const restore = vi.fn();
  documents.restore({ restore } as unknown as ILayoutRestorer);
  const saved = (): unknown[] => panels.map(panel => restore.mock.calls[0][1].args(panel).latest);
  expect(saved()).toEqual([false, false]);
  place.rename('a.ipynb');
  expect(documents.tracker.save).not.toHaveBeenCalled();
  place.latest = true;
  place.rename('a.ipynb');
  expect(vi.mocked(documents.tracker.save).mock.calls.map(([panel]) => panel.id)).toEqual(
    panels.map(({ id }) => id)
  );
  expect(saved()).toEqual([true, true]);
  for (const panel of panels) panel.dispose();
});
