import { PANELS } from '@dask-insight/panels/panels/index';
import { Notification } from '@jupyterlab/apputils';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import schema from '../schema/plugin.json';
import { readSteps, type Step } from './panels/steps';
import { Settings, settingsOf } from './settings';

vi.mock('@jupyterlab/apputils', () => ({ Notification: { warning: vi.fn() } }));

test('every panel can stand in a saved layout', () => {
  expect(schema.definitions.panel.examples).toEqual(PANELS.map(({ id }) => id));
});

test('the default layout is one that can be followed', () => {
  const layout = schema.properties.layout.default;
  expect(readSteps(layout)).toEqual(layout);
  for (const { panel } of layout) expect(schema.definitions.panel.examples).toContain(panel);
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

test('the kernel hears of what somebody has set, and of defaults only when they are so again', () => {
  const { rate, history, resources, stacks, reportSize } = schema.properties;
  const defaults = Object.fromEntries(
    Object.entries({ rate, history, resources, stacks, reportSize }).map(([key, each]) => [key, each.default])
  );
  const stored = {
    changed: new Signal({}),
    user: {} as Record<string, unknown>,
    /** By whoever runs the server. */
    overrides: {} as Record<string, unknown>,
    get composite() {
      return { ...defaults, ...this.overrides, ...this.user };
    }
  };
  const settings = new Settings(stored as unknown as ISettingRegistry.ISettings);
  expect(settings.forKernel).toEqual({});
  stored.user = { reportSize: 3, rate: rate.default };
  expect(settings.forKernel).toEqual({ report_bytes: 3e6, rate: rate.default });
  stored.user = {};
  stored.overrides = { history: 5000 };
  expect(settings.forKernel).toEqual({ report_bytes: 1.5e6, rate: rate.default, history: 5000 });
  expect(new Settings(stored as unknown as ISettingRegistry.ISettings).forKernel).toEqual({ history: 5000 });
});

test.each([
  ['invalid', [{ instancePath: '/rate', message: 'must be number' }], '/rate must be number'],
  ['out of reach', new Error('404'), '404']
])('everything else works where settings are %s, and a person is told', async (_, reason, words) => {
  const registry = { load: () => Promise.reject(reason) } as unknown as ISettingRegistry;
  expect(await settingsOf(registry, 'dask-insight:plugin')).toBeUndefined();
  expect(vi.mocked(Notification.warning).mock.lastCall?.[0]).toMatch(new RegExp(`: ${words}$`));
});
