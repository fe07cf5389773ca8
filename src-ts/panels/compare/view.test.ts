import { expect, test } from 'vitest';
import type { Recording } from '../../core/recording';
import { batchOf, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { compare } from '../compare';
import type { PanelView } from '../panel';
import { createStage } from '../stage';

const viewOf = (recording: Recording): PanelView =>
  compare.create({ ...createStage(recording), surface: new Surface(), say: () => {} });

const shown = ({ controls = [] }: PanelView): string[] =>
  controls.filter(({ hidden }) => !hidden).map(each => each.getAttribute('aria-label') ?? '');

test('where nothing is compared there is nothing to choose; where sides are, there is', () => {
  const recording = recordingOf({});
  const view = viewOf(recording);
  view.height(400);
  expect(shown(view)).toEqual([]);
  recording.take(
    batchOf(
      'compared_sides',
      [0, 1, 2].map(side => ({ side, name: `side-${side}`, runs: 1 }))
    )
  );
  view.height(400);
  expect(shown(view)).toEqual(['Compare with the baseline']);
  recording.take(
    batchOf(
      'compared_stacks',
      [0, 1, 2].map(side => ({ side, node: 7, function: 'run', file: 'f.py', line: 1, self: 1, total: 1 }))
    )
  );
  view.height(400);
  expect(shown(view)).toHaveLength(3);
});

test('a name that is chosen keeps the focus', () => {
  const recording = recordingOf({
    compared_sides: [0, 1].map(side => ({ side, name: `side-${side}`, runs: 1 })),
    compared_names: [0, 1].map(side => ({
      side,
      name: 'inc',
      names: '["inc"]',
      count: 1,
      verdict: 'slower'
    })),
    graph: [{ task: 0, key: 'inc-1', prefix: 'inc' }],
    attempts: [{ run: 0, task: 0, worker: 'w', thread: 't', status: 'ok', start: 1, stop: 2 }]
  });
  const view = viewOf(recording);
  document.body.append(view.above as HTMLElement);
  view.layout();
  const table = view.above?.querySelector('tbody');
  const button = (): HTMLElement | null | undefined => table?.querySelector('button');
  button()?.focus();
  button()?.click();
  view.layout();
  expect(button()?.getAttribute('aria-pressed')).toBe('true');
  expect(document.activeElement).toBe(button());
  view.above?.remove();
});
