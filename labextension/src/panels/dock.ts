import { type DockLayout, DockPanel, TabPanel, type Widget } from '@lumino/widgets';
import { isLeaf, type Leaf, NOTEBOOK, namesOf, type Tree } from './steps';

type Area = DockLayout.AreaConfig;

/** Puts widgets around one that stands in a dock panel; nothing else in it is moved. */
export function arrange(
  dock: DockPanel,
  home: Widget | undefined,
  tree: Tree,
  widgets: ReadonlyMap<string, Widget>
): void {
  const moved = new Set(widgets.values());
  const rest = pruned(dock.saveLayout().main, widget => !moved.has(widget), home);
  const make = (own: DockLayout.ITabAreaConfig | undefined): Area | null => areaOf(tree, widgets, own);
  const main =
    home && rest && tabsWith(rest, home) ? replaced(rest, home, make) : beside(rest, make(undefined));
  dock.restoreLayout({ main: main && flat(main) });
}

/** Makes a widget the current one of its tabs, unless that covers what it belongs to. The keyboard stays where it is. */
export function reveal(widget: Widget, home: Widget | undefined): void {
  const { parent } = widget;
  if (parent?.parent instanceof TabPanel) parent.parent.currentWidget = widget;
  if (parent instanceof DockPanel && !covers(parent, widget, home)) parent.selectWidget(widget);
}

function covers(dock: DockPanel, widget: Widget, home: Widget | undefined): boolean {
  if (dock.mode === 'single-document') return true;
  const owners = [...dock.tabBars()].map(({ titles }) => titles.map(({ owner }) => owner));
  return home !== undefined && owners.some(tabs => tabs.includes(widget) && tabs.includes(home));
}

/** How the named widgets stand around one; right of it where that is not there, and undefined where they are not. */
export function arrangement(
  dock: DockPanel,
  home: Widget | undefined,
  nameOf: (widget: Widget) => string | undefined
): Tree | undefined {
  const area = pruned(dock.saveLayout().main, widget => widget === home || nameOf(widget) !== undefined);
  const tree = area && treeOfArea(area, widget => (widget === home ? NOTEBOOK : (nameOf(widget) as string)));
  if (!tree || namesOf(tree).includes(NOTEBOOK)) return tree ?? undefined;
  return { orientation: 'horizontal', sizes: [1, 1], children: [{ tabs: [NOTEBOOK] }, tree] };
}

/** An area without what is not to be kept; the room goes to the heir's part where that is beside it, else to all. */
function pruned(area: Area | null, keep: (widget: Widget) => boolean, heir?: Widget): Area | null {
  if (area === null) return null;
  if (area.type === 'tab-area') {
    const widgets = area.widgets.filter(keep);
    if (widgets.length === 0) return null;
    const current = area.widgets[area.currentIndex];
    return { type: 'tab-area', widgets, currentIndex: Math.max(0, widgets.indexOf(current)) };
  }
  const left = area.children
    .map((child, index) => ({ child: pruned(child, keep, heir), size: area.sizes[index] }))
    .filter((each): each is { child: Area; size: number } => each.child !== null);
  if (left.length <= 1) return left[0]?.child ?? null;
  const sizes = left.map(({ size }) => size);
  const inherits = heir ? left.findIndex(({ child }) => tabsWith(child, heir)) : -1;
  if (inherits >= 0) sizes[inherits] += sum(area.sizes) - sum(sizes);
  return { ...area, children: left.map(({ child }) => child), sizes };
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((before, size) => before + size, 0);
}

function tabsWith(area: Area, widget: Widget): boolean {
  return area.type === 'tab-area'
    ? area.widgets.includes(widget)
    : area.children.some(child => tabsWith(child, widget));
}

function replaced(
  area: Area,
  home: Widget,
  make: (own: DockLayout.ITabAreaConfig) => Area | null
): Area | null {
  if (area.type === 'tab-area') return area.widgets.includes(home) ? make(area) : area;
  return { ...area, children: area.children.map(child => replaced(child, home, make) as Area) };
}

/** A split within a split of the same direction becomes part of it and keeps its room; Lumino would not scale it. */
function flat(area: Area): Area {
  if (area.type === 'tab-area') return area;
  const whole = sum(area.sizes);
  const parts = area.children.map(flat).map((child, index) => {
    const size = area.sizes[index] / whole;
    if (child.type === 'tab-area' || child.orientation !== area.orientation) {
      return { children: [child], sizes: [size] };
    }
    const within = sum(child.sizes);
    return { children: child.children, sizes: child.sizes.map(each => (each / within) * size) };
  });
  const children = parts.flatMap(part => part.children);
  return { ...area, children, sizes: parts.flatMap(part => part.sizes) };
}

/** For panels whose document is not open: right of everything. */
function beside(rest: Area | null, made: Area | null): Area | null {
  if (!rest || !made) return rest ?? made;
  return { type: 'split-area', orientation: 'horizontal', sizes: [1, 1], children: [rest, made] };
}

function areaOf(
  tree: Tree,
  widgets: ReadonlyMap<string, Widget>,
  own: DockLayout.ITabAreaConfig | undefined
): Area | null {
  if (isLeaf(tree)) return tabsOf(tree, widgets, own);
  const children = tree.children
    .map((child, index) => ({ area: areaOf(child, widgets, own), size: tree.sizes[index] }))
    .filter((each): each is { area: Area; size: number } => each.area !== null);
  if (children.length <= 1) return children[0]?.area ?? null;
  return {
    type: 'split-area',
    orientation: tree.orientation,
    sizes: children.map(({ size }) => size),
    children: children.map(({ area }) => area)
  };
}

function tabsOf(
  { tabs, current }: Leaf,
  widgets: ReadonlyMap<string, Widget>,
  own: DockLayout.ITabAreaConfig | undefined
): Area | null {
  const named = tabs.flatMap(name => widgets.get(name) ?? []);
  const home = tabs.includes(NOTEBOOK) ? own : undefined;
  const all = [...(home?.widgets ?? []), ...named];
  const front = current === undefined ? -1 : all.indexOf(widgets.get(current) as Widget);
  const currentIndex = front >= 0 ? front : (home?.currentIndex ?? 0);
  return all.length > 0 ? { type: 'tab-area', widgets: all, currentIndex } : null;
}

function treeOfArea(area: Area, nameOf: (widget: Widget) => string): Tree {
  if (area.type === 'tab-area') {
    const tabs = area.widgets.map(nameOf);
    return { tabs, current: tabs[area.currentIndex] };
  }
  const { orientation, sizes, children } = area;
  return { orientation, sizes: [...sizes], children: children.map(child => treeOfArea(child, nameOf)) };
}
