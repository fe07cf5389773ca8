import { Signal } from '@lumino/signaling';
import { DockPanel, Widget } from '@lumino/widgets';
import { expect, test, vi } from 'vitest';
import type { Place } from '../kernels/place';
import type { Places } from '../kernels/places';
import type { Documents, PanelWidget } from './documents';
import type { Hidden } from './hidden';
import { Layouts } from './layouts';

test('a layout of another release opens the panels that there are', () => {
  const open = vi.fn((_: string) => ({}));
  const places = { renamed: new Signal({}), documentOf: () => undefined } as unknown as Places;
  const hidden = { remove: vi.fn() } as unknown as Hidden;
  const layouts = new Layouts({ open } as unknown as Documents, places, hidden);
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
