import { PANELS } from '@dask-insight/panels/panels/index';
import { expect, test } from 'vitest';
import schema from '../schema/plugin.json';
import { readSteps } from './panels/steps';

test('every panel can stand in a saved layout', () => {
  expect(schema.definitions.panel.enum).toEqual(PANELS.map(({ id }) => id));
});

test('the default layout is one that can be followed', () => {
  const layout = schema.properties.layout.default;
  expect(readSteps(layout)).toEqual(layout);
  for (const { panel } of layout) expect(schema.definitions.panel.enum).toContain(panel);
});
