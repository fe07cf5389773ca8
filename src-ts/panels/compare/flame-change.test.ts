import { describe, expect, test } from 'vitest';
import { comparisonOf, isComparisonOnly, type SideStacks } from '../../core/comparison';
import { NOTHING } from '../../core/schema';
import { recordingOf } from '../../core/test-recording';
import { luminance } from '../../draw/palette';
import { PLAIN } from '../../draw/theme';
import { changeColor, changeStep, STEPS } from './colors';
import { FlameChange, type FlameChoice } from './flame-change';

/** `run` calls `work`, which takes longer after, and `gone`, which is not there after. */
const recording = recordingOf({
  compared_sides: [
    { side: 0, name: 'a', runs: 1, seconds: 3, verdict: 'baseline' },
    { side: 1, name: 'b', runs: 1, seconds: 4, change: 1, noise: 0.1, verdict: 'slower', text: 'b is slower' }
  ],
  compared_stacks: [
    { side: 0, node: 7, parent: NOTHING, function: 'run', file: 'f.py', line: 1, self: 0, total: 3 },
    { side: 1, node: 7, parent: NOTHING, function: 'run', file: 'f.py', line: 2, self: 0, total: 4 },
    { side: 0, node: 8, parent: 7, function: 'work', file: 'f.py', line: 3, self: 2, total: 2 },
    { side: 1, node: 8, parent: 7, function: 'work', file: 'f.py', line: 3, self: 4, total: 4 },
    { side: 0, node: 9, parent: 7, function: 'gone', file: 'f.py', line: 4, self: 1, total: 1 },
    { side: 1, node: 9, parent: 7, function: 'gone', file: 'f.py', line: 4, self: 0, total: 0 }
  ],
  compared_settings: [
    { side: 0, kind: 'version', name: 'dask', value: '1' },
    { side: 1, kind: 'version', name: 'dask', value: '2' }
  ],
  compared_memory: [
    { side: 0, run: 0, time: 0, process: 1 },
    { side: 0, run: 0, time: 1, process: 2 },
    { side: 1, run: 0, time: 0, process: 3 }
  ],
  compared_findings: [{ side: 1, state: 'came', code: 'spill' }]
});

function flameOf(stacks: SideStacks | undefined, choice: Partial<FlameChoice> = {}): FlameChange {
  const flame = new FlameChange(() => {});
  flame.take(stacks, { before: 0, after: 1, width: 1, names: ['a', 'b'], noisy: false, ...choice });
  flame.layout(400, 0);
  return flame;
}

describe('comparisonOf', () => {
  test('reads stacks of all sides as one tree', () => {
    const stacks = comparisonOf(recording)?.stacks as SideStacks;
    expect(stacks.functions).toEqual(['', 'run', 'work', 'gone']);
    expect([...stacks.parent]).toEqual([-1, 0, 1, 1]);
    expect(stacks.total.map(total => [...total])).toEqual([
      [3, 3, 2, 1],
      [4, 4, 4, 0]
    ]);
  });

  test('puts the sides of a setting, and the rows of a run, together', () => {
    const comparison = comparisonOf(recording);
    expect(comparison?.settings).toEqual([{ kind: 'version', name: 'dask', values: ['1', '2'] }]);
    expect(comparison?.memory.map(({ side, process }) => [side, [...process]])).toEqual([
      [0, [1, 2]],
      [1, [3]]
    ]);
    expect(comparison?.findings).toMatchObject([{ state: 'came', code: 'spill', cost_before: Number.NaN }]);
  });

  test('knows where nothing but a comparison is recorded', () => {
    expect(isComparisonOnly(recording)).toBe(true);
    expect(comparisonOf(recordingOf({}))).toBeUndefined();
  });
});

describe('FlameChange', () => {
  const stacks = comparisonOf(recording)?.stacks;

  test('is as wide as the side that is chosen: what went is seen in the width of before', () => {
    expect(flameOf(stacks, { width: 1 }).tree?.size).toBe(3);
    expect(flameOf(stacks, { width: 0 }).tree?.size).toBe(4);
  });

  test('tells both sides, the change, and what is only on one of them', () => {
    const flame = flameOf(stacks, { width: 0 });
    const card = (x: number): string => JSON.stringify(flame.pick(x, 24 + 18 + 9, PLAIN)?.card().groups);
    expect(card(100)).toContain('+2\u2009s (2 times as much)');
    expect(card(399)).toContain('only in a');
    expect(flame.pick(100, 24 + 18 + 9, PLAIN)?.words()).toContain('work');
  });

  test('without stacks there is nothing to pick', () => {
    const flame = flameOf(undefined);
    expect([flame.tree, flame.pick(10, 30, PLAIN), flame.move(undefined, 'first', PLAIN)]).toEqual([
      undefined,
      undefined,
      undefined
    ]);
  });
});

describe('colours of change', () => {
  test('more and less are told apart by lightness, in light and dark', () => {
    for (const dark of [false, true]) {
      const levels = [STEPS, -STEPS, 0].map(step => luminance(changeColor(step, { ...PLAIN, dark })));
      const [light, middle, heavy] = levels.sort((a, b) => b - a);
      expect(light / middle).toBeGreaterThan(1.25);
      expect(middle / heavy).toBeGreaterThan(1.25);
    }
  });

  test('names can be read on all of them', () => {
    for (let step = -STEPS; step <= STEPS; step++) {
      const [light, dark] = [false, true].map(
        dark => luminance(changeColor(step, { ...PLAIN, dark })) + 0.05
      );
      // Of the page's text, #15181c on light and #e8eaed on dark.
      expect(light / 0.059).toBeGreaterThan(4.5);
      expect(0.86 / dark).toBeGreaterThan(4.5);
    }
  });

  test('a frame that has doubled says little where there is little of it', () => {
    expect(changeStep(1, 2, 10)).toBe(STEPS);
    expect(changeStep(2, 1, 10)).toBe(-STEPS);
    expect(changeStep(4, 5, 10)).toBe(3);
    expect(changeStep(0.001, 0.002, 10)).toBe(0);
    expect(changeStep(0, 0, 10)).toBe(0);
  });
});
