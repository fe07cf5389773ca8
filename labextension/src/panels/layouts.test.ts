import { Signal } from '@lumino/signaling';
import { DockPanel, Widget } from '@lumino/widgets';
import { expect, test, vi } from 'vitest';
import type { Place } from '../kernels/place';
import type { Places } from '../kernels/places';
import type { Documents, PanelWidget } from './documents';
import { Hidden } from './hidden';
import { Layouts } from './layouts';
import type { Step } from './steps';

test('a layout of another release opens the panels that there are', () => {
  const open = vi.fn((_: string) => ({}));
  const places = { renamed: new Signal({}), documentOf: () => undefined } as unknown as Places;
  const hidden = { remove: vi.fn() } as unknown as Hidden;
  const layouts = new Layouts({ open, all: () => [] } as unknown as Documents, places, hidden);
  const steps = ['panel-of-tomorrow', 'memory'].map(panel => ({
    panel,
    beside: 'notebook',
    where: 'right' as const
  }));
  layouts.apply(steps, {} as Place);
  expect(open.mock.calls.map(([panel]) => panel)).toEqual(['memory']);
});

/** A panel that is in the page, wherever. */
function panel(id: string): PanelWidget {
  const made = new Widget();
  vi.spyOn(made, 'isAttached', 'get').mockReturnValue(true);
  return Object.assign(made, { content: { panel: { id } } }) as unknown as PanelWidget;
}

/** How these stand whose notebook is not open. */
function stepsWithout(all: PanelWidget[]): unknown {
  const places = { renamed: new Signal({}), documentOf: () => undefined } as unknown as Places;
  const layouts = new Layouts({ all: () => all } as unknown as Documents, places, {} as Hidden);
  return layouts.stepsOf({} as Place).map(({ panel, beside, where }) => [panel, beside, where]);
}

test('panels keep their arrangement while their notebook is closed', () => {
  const dock = new DockPanel();
  const [stream, memory, functions] = ['task-stream', 'memory', 'functions'].map(panel);
  dock.addWidget(stream);
  dock.addWidget(memory, { mode: 'split-right', ref: stream });
  dock.addWidget(functions, { mode: 'tab-after', ref: memory });
  expect(stepsWithout([stream, memory, functions])).toEqual([
    ['task-stream', 'notebook', 'right'],
    ['memory', 'task-stream', 'right'],
    ['functions', 'memory', 'tab']
  ]);
});

test('panels that no dock panel holds stand in no order, and none is lost', () => {
  const [stream, memory] = ['task-stream', 'memory'].map(panel);
  expect(stepsWithout([stream, memory])).toEqual([
    ['task-stream', 'notebook', 'tab'],
    ['memory', 'notebook', 'tab']
  ]);
  new DockPanel().addWidget(stream);
  expect(stepsWithout([stream, memory])).toEqual([
    ['task-stream', 'notebook', 'right'],
    ['memory', 'notebook', 'tab']
  ]);
});

const USUAL: Step[] = [
  { panel: 'task-stream', beside: 'notebook', where: 'right', share: 0.6 },
  { panel: 'progress', beside: 'task-stream', where: 'bottom' }
];

/** Layouts of places, with panels that are opened into a dock panel. */
function laidOut(hidden: Hidden, mode: DockPanel.Mode, ...known: readonly Partial<Place>[]) {
  const dock = new DockPanel({ mode });
  const all: PanelWidget[] = [];
  const open = vi.fn((id: string, place: Place, _: { activate?: boolean } = {}) => {
    const found = all.find(({ content }) => content.panel.id === id && content.place === place);
    if (found) return found;
    const made = panel(id);
    Object.assign(made.content, { place });
    made.disposed.connect(() => all.splice(all.indexOf(made), 1));
    all.push(made);
    dock.addWidget(made);
    return made;
  });
  const places = known as readonly Place[];
  const named = (kind: string, path: string): Place | undefined =>
    places.find(each => each.kind === kind && each.path === path);
  const layouts = new Layouts(
    {
      open,
      all: (place?: Place) => all.filter(({ content }) => !place || content.place === place)
    } as unknown as Documents,
    {
      renamed: new Signal({}),
      documentOf: () => undefined,
      get: (id: string) => places.find(({ kind, path }) => `${kind}:${path}` === id),
      named
    } as unknown as Places,
    hidden
  );
  return { layouts, open, places };
}

test('of one document at a time the first panel is brought forward, and a usual layout is what is kept', () => {
  const hidden = new Hidden(null);
  const { layouts, open, places } = laidOut(hidden, 'single-document', {
    kind: 'notebook',
    path: 'a',
    open: true
  });
  const [place] = places;
  layouts.apply([...USUAL, { panel: 'memory', beside: 'notebook', where: 'left' }], place);
  expect(layouts.isSingle(place)).toBe(true);
  expect(open.mock.calls.filter(([, , { activate } = {}]) => activate !== false)).toEqual([
    ['task-stream', place]
  ]);
  layouts.hideAll(USUAL);
  const [{ steps }] = hidden.all;
  expect(steps.slice(0, 2)).toEqual(USUAL);
  expect(steps.slice(2).map(({ panel }) => panel)).toEqual(['memory']);
});

test('panels come back of documents that are open, and of others where there are no such', () => {
  const hidden = new Hidden(null);
  const [near, far] = [
    { kind: 'notebook', path: 'near' } as const,
    { kind: 'notebook', path: 'far' } as const
  ];
  for (const place of [near, far]) hidden.add(place, USUAL);
  const { layouts, open } = laidOut(
    hidden,
    'multiple-document',
    { ...near, open: true },
    { ...far, open: false }
  );
  layouts.showAll();
  expect(new Set(open.mock.calls.map(([, { path }]) => path))).toEqual(new Set(['near']));
  expect(hidden.all.map(({ path }) => path)).toEqual(['far']);
  layouts.showAll();
  expect(hidden.all).toEqual([]);
});
