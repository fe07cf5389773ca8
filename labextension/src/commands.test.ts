import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import { ACTIONS, addCommands, type Parts } from './commands';
import { OPEN } from './panels/documents';

// JupyterLab's own come with its whole toolkit, which wants more of a browser than there is here.
vi.mock('@jupyterlab/apputils', () => ({}));
vi.mock('@jupyterlab/ui-components', () => ({ LabIcon: class {} }));

/** The commands of a notebook with so many panels in sight. */
function commandsWith(layouts: object, inSight: number, splits = true): CommandRegistry {
  const commands = new CommandRegistry();
  addCommands({
    app: { commands },
    places: { changed: new Signal({}), current: {} },
    documents: { tracker: { widgetAdded: new Signal({}) }, splits, all: () => Array(inSight).fill({}) },
    layouts,
    settings: { layout: ['usual'] }
  } as unknown as Parts);
  return commands;
}

test('a layout can be saved where panels stand in one: not below the document of Notebook 7, not in Simple mode', () => {
  const canSave = (splits: boolean, single = false): boolean =>
    commandsWith({ isSingle: () => single }, 1, splits).isEnabled(ACTIONS.save);
  expect([canSave(true), canSave(false), canSave(true, true)]).toEqual([true, false, false]);
  expect(commandsWith({ isSingle: () => true }, 1).caption(ACTIONS.save)).toContain('leave Simple mode');
});

test('panels are hidden while any is in sight, and shown otherwise, wherever others are hidden', async () => {
  const layouts = { anyHidden: true, hideAll: vi.fn(), showAll: vi.fn() };
  const toggle = async (inSight: number): Promise<string> => {
    const commands = commandsWith(layouts, inSight);
    await commands.execute(ACTIONS.toggle);
    return commands.label(ACTIONS.toggle);
  };
  expect(await toggle(1)).toBe('Hide all');
  expect([layouts.hideAll.mock.calls, layouts.showAll.mock.calls]).toEqual([[[['usual']]], []]);
  expect(await toggle(0)).toBe('Show all');
  expect(layouts.showAll).toHaveBeenCalledOnce();
});

test('a panel that comes back after a reload follows the latest cell again where its place did', async () => {
  const commands = new CommandRegistry();
  const [was, is] = [{ latest: true }, { latest: false }];
  const documents = {
    tracker: { widgetAdded: new Signal({}) },
    placeOf: (_: unknown, path: string) => (path === 'was' ? was : is),
    open: vi.fn()
  };
  addCommands({
    app: { commands },
    places: { changed: new Signal({}) },
    documents,
    layouts: {}
  } as unknown as Parts);
  await commands.execute(OPEN, { panel: 'memory', path: 'was', latest: false });
  await commands.execute(OPEN, { panel: 'memory', path: 'is', latest: true });
  expect([was, is]).toEqual([{ latest: true }, { latest: true }]);
});

test('a card of the launcher brings the sidebar where there is nothing to open a panel for', async () => {
  const commands = new CommandRegistry();
  const activateById = vi.fn();
  const open = vi.fn();
  const documents = {
    tracker: { widgetAdded: new Signal({}) },
    placeOf: (_: unknown, path: unknown) => path,
    open
  };
  addCommands({
    app: { commands, shell: { activateById } },
    places: { changed: new Signal({}), current: undefined },
    documents,
    layouts: {}
  } as unknown as Parts);
  await commands.execute(OPEN, { panel: 'memory' });
  expect(activateById).not.toHaveBeenCalled();
  await commands.execute(OPEN, { panel: 'memory', isLauncher: true });
  expect(activateById).toHaveBeenCalledWith('dask-insight-sidebar');
  expect(open).not.toHaveBeenCalled();
  await commands.execute(OPEN, { panel: 'memory', path: 'a.ipynb', isLauncher: true });
  expect(open).toHaveBeenCalledOnce();
});
