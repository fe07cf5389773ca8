/** Where a panel goes, seen from the notebook or from a panel that has been placed before. */
export interface Step {
  /** Id of the panel. */
  readonly panel: string;
  /** `notebook`, or the id of a panel. */
  readonly beside: string;
  readonly where: Where;
  /** The part of the neighbour's room that the panel takes, between 0 and 1. */
  readonly share?: number;
  /** It is the current one of the tabs it stands with; without any such, the first one is. */
  readonly current?: boolean;
}

export type Where = 'right' | 'left' | 'top' | 'bottom' | 'tab';

/** What a layout is built around. */
export const NOTEBOOK = 'notebook';

/** A layout as a tree of splits; the leaves hold what stands there as tabs. */
export type Tree = Leaf | Split;

export interface Leaf {
  tabs: string[];
  /** The tab that is shown; the first one by default. */
  current?: string;
}

export interface Split {
  orientation: 'horizontal' | 'vertical';
  sizes: number[];
  children: Tree[];
}

export function isLeaf(tree: Tree): tree is Leaf {
  return 'tabs' in tree;
}

/** The steps in a value that a person wrote; what makes no sense is left out. */
export function readSteps(value: unknown): Step[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap(each => {
    const { panel, beside = NOTEBOOK, where = 'right', share, current } = (each ?? {}) as Partial<Step>;
    const places: unknown[] = ['right', 'left', 'top', 'bottom', 'tab'];
    if (typeof panel !== 'string' || typeof beside !== 'string' || !places.includes(where)) return [];
    const part = typeof share === 'number' && share > 0 && share < 1 ? { share } : {};
    return [{ panel, beside, where, ...part, ...(current === true ? { current } : {}) }];
  });
}

/** Follows the steps; a panel whose neighbour is missing goes beside the notebook. */
export function treeOf(steps: readonly Step[]): Tree {
  let root: Tree = { tabs: [NOTEBOOK] };
  const placed = new Set([NOTEBOOK]);
  for (const { panel, beside, where, share = 0.5, current } of steps) {
    if (placed.has(panel)) continue;
    root = inserted(root, panel, placed.has(beside) ? beside : NOTEBOOK, where, share);
    placed.add(panel);
    const leaf = within(root, panel)?.leaf;
    if (leaf && current) leaf.current = panel;
  }
  return root;
}

function inserted(tree: Tree, panel: string, beside: string, where: Where, share: number): Tree {
  const found = within(tree, beside);
  if (!found) return tree;
  if (where === 'tab') {
    found.leaf.tabs.push(panel);
    return tree;
  }
  const orientation = where === 'left' || where === 'right' ? 'horizontal' : 'vertical';
  const before = where === 'left' || where === 'top';
  const made: Leaf = { tabs: [panel] };
  const { parent, index, leaf } = found;
  if (parent?.orientation === orientation) {
    const size = parent.sizes[index];
    parent.sizes.splice(index, 1, ...ordered(size * (1 - share), size * share, before));
    parent.children.splice(index, 1, ...ordered<Tree>(leaf, made, before));
    return tree;
  }
  const split: Split = {
    orientation,
    sizes: ordered(1 - share, share, before),
    children: ordered<Tree>(leaf, made, before)
  };
  if (!parent) return split;
  parent.children[index] = split;
  return tree;
}

function ordered<T>(old: T, made: T, before: boolean): T[] {
  return before ? [made, old] : [old, made];
}

interface Found {
  leaf: Leaf;
  parent: Split | undefined;
  index: number;
}

function within(tree: Tree, name: string, parent?: Split, index = 0): Found | undefined {
  if (isLeaf(tree)) return tree.tabs.includes(name) ? { leaf: tree, parent, index } : undefined;
  for (const [at, child] of tree.children.entries()) {
    const found = within(child, name, tree, at);
    if (found) return found;
  }
  return undefined;
}

/** Steps that lead to this tree; it must hold the notebook. */
export function stepsOf(tree: Tree): Step[] {
  const tabs: Step[] = [];
  const splits: Step[] = [];
  /** What is placed first of a part of the tree: the others go beside it. */
  const stand = (part: Tree): string => {
    const names = namesOf(part);
    return names.includes(NOTEBOOK) ? NOTEBOOK : names[0];
  };
  const walk = (part: Tree): void => {
    if (isLeaf(part)) {
      const beside = stand(part);
      for (const panel of part.tabs) {
        if (panel === beside) continue;
        const current = panel === part.current ? { current: true } : {};
        tabs.push({ panel, beside, where: 'tab', ...current });
      }
      return;
    }
    const { children, orientation } = part;
    const sum = part.sizes.reduce((a, b) => a + b, 0);
    const sizes = part.sizes.map(size => size / sum);
    const stands = children.map(stand);
    const home = Math.max(0, stands.indexOf(stand(part)));
    const [after, before] = orientation === 'horizontal' ? ['right', 'left'] : ['bottom', 'top'];
    const total = (from: number, to: number): number => sizes.slice(from, to).reduce((a, b) => a + b, 0);
    const step = (at: number, beside: number, where: string, share: number): void => {
      const part = Math.round(share * 1000) / 1000;
      splits.push({ panel: stands[at], beside: stands[beside], where: where as Where, share: part });
    };
    for (let at = home + 1; at < children.length; at++) {
      // What stands before the home is placed later: until then the home has its room too.
      const from = at - 1 === home ? 0 : at - 1;
      step(at, at - 1, after, total(at, children.length) / total(from, children.length));
    }
    for (let at = home - 1; at >= 0; at--) step(at, at + 1, before, total(0, at + 1) / total(0, at + 2));
    for (const child of children) walk(child);
  };
  walk(tree);
  return [...splits, ...tabs];
}

/** Where everything goes of two sets of steps: as the later ones say if they place all, else as the earlier ones do. */
export function mergedSteps(before: readonly Step[], after: readonly Step[]): readonly Step[] {
  return without(before, after).length === 0 ? after : [...before, ...without(after, before)];
}

/** The panels that some steps place, each where a layout has it, if it does. */
export function placedAs(layout: readonly Step[], steps: readonly Step[]): readonly Step[] {
  return [...without(layout, without(layout, steps)), ...without(steps, layout)];
}

/** Those of some steps whose panels others do not place. */
export function without(steps: readonly Step[], others: readonly Step[]): Step[] {
  const placed = new Set(others.map(({ panel }) => panel));
  return steps.filter(({ panel }) => !placed.has(panel));
}

export function namesOf(tree: Tree): string[] {
  return isLeaf(tree) ? tree.tabs : tree.children.flatMap(namesOf);
}
