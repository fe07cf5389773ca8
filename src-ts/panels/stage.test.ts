import { expect, test } from 'vitest';
import type { Recording } from '../core/recording';
import { recordingOf } from '../core/test-recording';
import { createStage } from './stage';

const named = (...names: string[]): Recording =>
  recordingOf({ graph: names.map((prefix, task) => ({ task, key: prefix, prefix, group: prefix })) });

test('colours of names that a recording goes on with stay; names that it no longer has leave theirs to others', () => {
  const past = Array.from({ length: 300 }, (_, at) => `past-${at}`);
  const { recording, colors } = createStage(named(...past, 'stays'));
  const stays = colors.slot('stays');
  const fresh = Array.from({ length: 10 }, (_, at) => `fresh-${at}`);
  recording.replace(named(...fresh, 'stays'));
  expect(colors.slot('stays')).toBe(stays);
  expect(new Set([...fresh, 'stays'].map(name => colors.slot(name))).size).toBe(11);
});
