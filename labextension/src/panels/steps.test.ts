import { expect, test } from 'vitest';
import { readSteps, type Step, stepsOf, type Tree, treeOf } from './steps';

const STEPS: Step[] = [
  { panel: 'task-stream', beside: 'notebook', where: 'right', share: 0.6 },
  { panel: 'resources', beside: 'task-stream', where: 'bottom', share: 0.5 },
  { panel: 'flame-graph', beside: 'resources', where: 'bottom', share: 0.4 },
  { panel: 'memory', beside: 'resources', where: 'tab' }
];

test('steps become splits in the room of their neighbours', () => {
  expect(treeOf(STEPS)).toEqual({
    orientation: 'horizontal',
    sizes: [0.4, 0.6],
    children: [
      { tabs: ['notebook'] },
      {
        orientation: 'vertical',
        sizes: [0.5, 0.3, 0.2],
        children: [{ tabs: ['task-stream'] }, { tabs: ['resources', 'memory'] }, { tabs: ['flame-graph'] }]
      }
    ]
  });
});

test('a panel is placed once, and beside the notebook where its neighbour is missing', () => {
  const tree = treeOf([
    { panel: 'memory', beside: 'nowhere', where: 'left' },
    { panel: 'memory', beside: 'notebook', where: 'right' }
  ]);
  expect(tree).toEqual({
    orientation: 'horizontal',
    sizes: [0.5, 0.5],
    children: [{ tabs: ['memory'] }, { tabs: ['notebook'] }]
  });
});

test('which tab is shown is saved with the steps, where it is not the first', () => {
  const tree: Tree = {
    orientation: 'horizontal',
    sizes: [0.5, 0.5],
    children: [
      { tabs: ['notebook', 'a'], current: 'notebook' },
      { tabs: ['b', 'c', 'd'], current: 'c' }
    ]
  };
  const steps = readSteps(JSON.parse(JSON.stringify(stepsOf(tree))));
  expect(steps.flatMap(({ panel, current }) => (current ? panel : []))).toEqual(['c']);
  expect(treeOf(steps)).toMatchObject({ children: [{}, { current: 'c' }] });
});

const TREES: Tree[] = [
  { tabs: ['notebook'] },
  { tabs: ['a', 'notebook', 'b'], current: 'a' },
  {
    orientation: 'horizontal',
    sizes: [0.2, 0.3, 0.5],
    children: [{ tabs: ['a'] }, { tabs: ['notebook'] }, { tabs: ['b', 'c'] }]
  },
  {
    orientation: 'vertical',
    sizes: [0.25, 0.75],
    children: [
      {
        orientation: 'horizontal',
        sizes: [0.5, 0.25, 0.25],
        children: [{ tabs: ['a'] }, { tabs: ['b'] }, { tabs: ['c'] }]
      },
      {
        orientation: 'horizontal',
        sizes: [0.4, 0.6],
        children: [{ tabs: ['d'] }, { tabs: ['notebook'] }]
      }
    ]
  }
];

test.each(TREES.map((tree, index) => [index, tree] as const))(
  'layout %i is saved as steps and comes back',
  (_, tree) => {
    const again = treeOf(stepsOf(tree));
    expect(rounded(again)).toEqual(rounded(sorted(tree)));
  }
);

test('what a person wrote is read with care', () => {
  expect(readSteps('right')).toEqual([]);
  expect(readSteps([null, 3, {}, { panel: 'memory', where: 'above' }])).toEqual([]);
  expect(readSteps([{ panel: 'memory', share: 7 }])).toEqual([
    { panel: 'memory', beside: 'notebook', where: 'right' }
  ]);
});

/** Tabs in the order in which steps place them: the one that stands for the others first. */
function sorted(tree: Tree): Tree {
  if (!('tabs' in tree)) return { ...tree, children: tree.children.map(sorted) };
  const rest = tree.tabs.filter(name => name !== 'notebook');
  return { ...tree, tabs: tree.tabs.length > rest.length ? ['notebook', ...rest] : rest };
}

function rounded(tree: Tree): Tree {
  if ('tabs' in tree) return tree;
  const sizes = tree.sizes.map(size => Math.round(size * 100) / 100);
  return { ...tree, sizes, children: tree.children.map(rounded) };
}
