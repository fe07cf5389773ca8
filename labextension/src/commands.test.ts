import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import { ACTIONS, addCommands, type Parts } from './commands';
import { OPEN } from './panels/documents';

// JupyterLab's own come with its whole toolkit, which wants more of a browser than there is here.
vi.mock('@jupyterlab/apputils', () => ({}));
vi.mock('@jupyterlab/ui-components', () => ({ LabIcon: class {} }));

test('a layout can be saved where panels stand in one, not below the document of Notebook 7', () => {
  const canSave = (splits: boolean): boolean => {
    const commands = new CommandRegistry();
    addCommands({
      app: { commands },
      places: { changed: new Signal({}), current: {} },
      documents: { tracker: { widgetAdded: new Signal({}) }, splits, all: () => [{}] },
      layouts: {},
      settings: {}
    } as unknown as Parts);
    return commands.isEnabled(ACTIONS.save);
  };
  expect([canSave(true), canSave(false)]).toEqual([true, false]);
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
    layouts: { anyHidden: false }
  } as unknown as Parts);
  await commands.execute(OPEN, { panel: 'memory' });
  expect(activateById).not.toHaveBeenCalled();
  await commands.execute(OPEN, { panel: 'memory', isLauncher: true });
  expect(activateById).toHaveBeenCalledWith('dask-insight-sidebar');
  expect(open).not.toHaveBeenCalled();
  await commands.execute(OPEN, { panel: 'memory', path: 'a.ipynb', isLauncher: true });
  expect(open).toHaveBeenCalledOnce();
});
