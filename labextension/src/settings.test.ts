import { PANELS } from '@dask-insight/panels/panels/index';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';
import { expect, test } from 'vitest';
import schema from '../schema/plugin.json';
import { readSteps, type Step } from './panels/steps';
import { Settings } from './settings';

test('every panel can stand in a saved layout', () => {
  expect(schema.definitions.panel.enum).toEqual(PANELS.map(({ id }) => id));
});

test('the default layout is one that can be followed', () => {
  const layout = schema.properties.layout.default;
  expect(readSteps(layout)).toEqual(layout);
  for (const { panel } of layout) expect(schema.definitions.panel.enum).toContain(panel);
});

test('a saved layout holds from the click on, not only when the server has it', async () => {
  const before: Step[] = [{ panel: 'memory', beside: 'notebook', where: 'right' }];
  const after: Step[] = [{ panel: 'flame-graph', beside: 'notebook', where: 'bottom' }];
  const composite: Record<string, unknown> = { layout: before };
  const answers: ((fails: boolean) => void)[] = [];
  const stored = {
    composite,
    changed: new Signal({}),
    set: (name: string, value: unknown) =>
      new Promise<void>((done, refuse) =>
        answers.push(fails => {
          if (fails) return refuse(new Error('read-only'));
          composite[name] = value;
          done();
        })
      )
  } as unknown as ISettingRegistry.ISettings;
  const settings = new Settings(stored);

  const saving = settings.saveLayout(after);
  expect(settings.layout).toEqual(after);
  answers[0](false);
  await saving;
  expect(settings.layout).toEqual(after);

  const refused = settings.saveLayout(before);
  expect(settings.layout).toEqual(before);
  answers[1](true);
  await expect(refused).rejects.toThrow('read-only');
  expect(settings.layout).toEqual(after);
});
