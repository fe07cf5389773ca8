import { DockPanel, Widget } from '@lumino/widgets';
import { beforeEach, expect, test } from 'vitest';
import { arrange, arrangement, reveal } from './dock';
import { NOTEBOOK, type Step, stepsOf, type Tree, treeOf } from './steps';

const STEPS: Step[] = [
  { panel: 'stream', beside: NOTEBOOK, where: 'right', share: 0.6 },
  { panel: 'resources', beside: 'stream', where: 'bottom', share: 0.4 },
  { panel: 'memory', beside: 'resources', where: 'tab' }
];

let dock: DockPanel;
let notebook: Widget;
let other: Widget;
let panels: Map<string, Widget>;

const named = (name: string): Widget => {
  const widget = new Widget();
  widget.title.label = name;
  return widget;
};

/** The dock panel's layout with names in place of widgets; sizes in whole percent. */
function shown(): unknown {
  const plain = (area: ReturnType<DockPanel['saveLayout']>['main']): unknown => {
    if (!area) return null;
    if (area.type === 'tab-area') return area.widgets.map(({ title }) => title.label);
    const sum = area.sizes.reduce((a, b) => a + b, 0);
    return {
      [area.orientation]: area.children.map(plain),
      sizes: area.sizes.map(size => Math.round((100 * size) / sum))
    };
  };
  return plain(dock.saveLayout().main);
}

beforeEach(() => {
  dock = new DockPanel();
  notebook = named('analysis.ipynb');
  other = named('notes.txt');
  dock.addWidget(notebook);
  dock.addWidget(other, { mode: 'split-left', ref: notebook });
  panels = new Map(['stream', 'resources', 'memory'].map(name => [name, named(name)]));
});

test('panels go around their notebook, and what else is open stays where it is', () => {
  arrange(dock, notebook, treeOf(STEPS), panels);
  expect(shown()).toEqual({
    horizontal: [
      ['notes.txt'],
      ['analysis.ipynb'],
      { vertical: [['stream'], ['resources', 'memory']], sizes: [60, 40] }
    ],
    sizes: [50, 20, 30]
  });
});

test('panels that are open already are moved, not doubled', () => {
  for (const panel of panels.values()) dock.addWidget(panel);
  arrange(dock, notebook, treeOf(STEPS), panels);
  const before = shown();
  arrange(dock, notebook, treeOf(STEPS), panels);
  expect(shown()).toEqual(before);
});

test('how panels stand is read back as the steps that lead there', () => {
  arrange(dock, notebook, treeOf(STEPS), panels);
  const names = new Map([...panels].map(([name, widget]) => [widget, name]));
  const tree = arrangement(dock, notebook, widget => names.get(widget));
  expect(tree && stepsOf(tree)).toEqual(STEPS);
});

test('how panels stand is read back also when their notebook has been closed', () => {
  arrange(dock, notebook, treeOf(STEPS), panels);
  notebook.dispose();
  const names = new Map([...panels].map(([name, widget]) => [widget, name]));
  const tree = arrangement(dock, undefined, widget => names.get(widget));
  const [first, ...others] = STEPS;
  expect(tree && stepsOf(tree)).toEqual([{ ...first, share: 0.5 }, ...others]);
  expect(arrangement(dock, undefined, () => undefined)).toBeUndefined();
});

test('panels without an open notebook go beside what is open', () => {
  arrange(dock, undefined, treeOf(STEPS), panels);
  const { horizontal } = shown() as { horizontal: unknown[] };
  expect(horizontal.slice(0, 2)).toEqual([['notes.txt'], ['analysis.ipynb']]);
  expect(horizontal[2]).toMatchObject({ vertical: [['stream'], ['resources', 'memory']] });
});

const shows = (name: string): boolean => panels.get(name)?.isHidden === false;

test('the tab that is shown is shown again', () => {
  arrange(dock, notebook, treeOf(STEPS), panels);
  dock.selectWidget(panels.get('memory') as Widget);
  const names = new Map([...panels].map(([name, widget]) => [widget, name]));
  const tree = arrangement(dock, notebook, widget => names.get(widget)) as Tree;
  for (const panel of panels.values()) panel.parent = null;
  arrange(dock, notebook, treeOf(stepsOf(tree)), panels);
  expect([shows('resources'), shows('memory')]).toEqual([false, true]);
});

test('a panel is brought before the other tabs, but not before the notebook that it belongs to', () => {
  arrange(dock, notebook, treeOf(STEPS), panels);
  const [stream, , memory] = [...panels.values()];
  reveal(memory, notebook);
  expect([shows('resources'), shows('memory')]).toEqual([false, true]);
  dock.addWidget(stream, { mode: 'tab-after', ref: notebook });
  dock.selectWidget(notebook);
  reveal(stream, notebook);
  expect([notebook.isHidden, shows('stream')]).toEqual([false, false]);
});
