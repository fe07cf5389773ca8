import { PANELS } from '@dask-insight/panels/panels/index';
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { exportReport } from './export-report';
import {
  fitIcon,
  followIcon,
  layoutIcon,
  panelIcon,
  pauseIcon,
  redoIcon,
  reportIcon,
  signIcon,
  undoIcon
} from './icons';
import type { Place } from './kernels/place';
import type { Places } from './kernels/places';
import { type Documents, OPEN } from './panels/documents';
import type { Layouts } from './panels/layouts';
import type { Settings } from './settings';

/** Ids of what can be done; `OPEN` opens one panel. */
export const ACTIONS = {
  sidebar: 'dask-insight:show-sidebar',
  layout: 'dask-insight:open-layout',
  save: 'dask-insight:save-layout',
  toggle: 'dask-insight:toggle-panels',
  follow: 'dask-insight:follow',
  pause: 'dask-insight:pause',
  undo: 'dask-insight:undo-selection',
  redo: 'dask-insight:redo-selection',
  fit: 'dask-insight:fit',
  report: 'dask-insight:save-report'
} as const;

export interface Parts {
  readonly app: JupyterFrontEnd;
  readonly places: Places;
  readonly documents: Documents;
  readonly layouts: Layouts;
  readonly settings: Settings | undefined;
}

/** Registers every command; all act on the notebook or console that a person is at. */
export function addCommands(parts: Parts): void {
  addOpen(parts);
  addLayouts(parts);
  addView(parts);
  const { app, documents, places } = parts;
  app.commands.addCommand(ACTIONS.sidebar, {
    label: 'Show Dask Insight',
    icon: signIcon,
    execute: () => app.shell.activateById('dask-insight-sidebar')
  });
  places.changed.connect(() => tellOfChange(parts));
  documents.tracker.widgetAdded.connect((_, widget) => {
    tellOfChange(parts);
    widget.disposed.connect(() => tellOfChange(parts));
  });
}

function addOpen({ app, documents, places }: Parts): void {
  app.commands.addCommand(OPEN, {
    label: args => {
      const title = PANELS.find(({ id }) => id === args.panel)?.title ?? 'Panel';
      return args.isPalette || args.isLauncher ? title : `Open ${title}`;
    },
    caption: 'Open this panel of the current notebook',
    icon: args => panelIcon(String(args.panel)),
    describedBy: {
      args: {
        type: 'object',
        required: ['panel'],
        properties: {
          panel: { type: 'string', enum: PANELS.map(({ id }) => id) },
          kind: { type: 'string', enum: ['notebook', 'console'] },
          path: { type: 'string', description: 'Notebook or console; the current one by default' }
        }
      }
    },
    isEnabled: args => args.path !== undefined || places.current !== undefined,
    execute: args => {
      const place = documents.placeOf(args.kind, args.path);
      // Cards of the launcher look the same where there is nothing to open a panel for: the sidebar says so.
      if (!place) return args.isLauncher ? app.commands.execute(ACTIONS.sidebar) : undefined;
      if (args.latest === true) place.latest = true;
      return documents.open(String(args.panel), place, {
        activate: args.activate !== false,
        front: args.front === true
      });
    }
  });
}

function addLayouts({ app: { commands }, places, layouts, documents, settings }: Parts): void {
  const here = (): Place | undefined => places.current;
  const isSingle = (): boolean => places.current !== undefined && layouts.isSingle(places.current);
  const anyInSight = (): boolean => documents.all().length > 0;
  commands.addCommand(ACTIONS.layout, {
    label: args => (args.short ? 'Layout' : 'Default layout'),
    caption: 'Open the panels of the default layout around the notebook',
    icon: layoutIcon,
    isEnabled: () => here() !== undefined && settings !== undefined,
    execute: () => {
      const place = here();
      if (place && settings) layouts.apply(settings.layout, place);
    }
  });
  commands.addCommand(ACTIONS.save, {
    label: args => (args.short ? 'Save' : 'Save layout'),
    caption: () =>
      isSingle()
        ? 'Panels stand in no layout that could be saved while one document is shown at a time: leave Simple mode first'
        : 'Make the panels as they stand now the default layout',
    isEnabled: () => {
      const place = here();
      // Where nothing can be split, panels stand in no order that would do elsewhere.
      const isSet = documents.splits && settings !== undefined && !isSingle();
      return isSet && place !== undefined && documents.all(place).length > 0;
    },
    execute: async () => {
      const place = here();
      if (!place) return;
      await settings?.saveLayout(layouts.stepsOf(place)).catch(reason => {
        Notification.error(`The layout was not saved with your settings: ${reason?.message ?? reason}`);
      });
    }
  });
  commands.addCommand(ACTIONS.toggle, {
    label: () => (layouts.anyHidden && !anyInSight() ? 'Show all' : 'Hide all'),
    caption: 'Take all panels out of sight, or bring them back to where they stood',
    isEnabled: () => anyInSight() || layouts.anyHidden,
    execute: () => {
      if (anyInSight()) layouts.hideAll(settings?.layout ?? []);
      else layouts.showAll();
    }
  });
}

function addView({ app: { commands }, places }: Parts): void {
  const page = () => places.current?.live?.page;
  commands.addCommand(ACTIONS.follow, {
    label: 'Follow the run',
    icon: followIcon,
    isToggleable: true,
    isToggled: () => page()?.follow ?? false,
    isEnabled: () => page() !== undefined,
    execute: () => {
      const shown = page();
      if (shown) shown.follow = !shown.follow;
    }
  });
  commands.addCommand(ACTIONS.pause, {
    label: 'Pause the panels',
    icon: pauseIcon,
    isToggleable: true,
    isToggled: () => page()?.paused ?? false,
    isEnabled: () => page() !== undefined,
    execute: () => {
      const shown = page();
      if (shown) shown.paused = !shown.paused;
    }
  });
  commands.addCommand(ACTIONS.undo, {
    label: 'Undo the selection',
    icon: undoIcon,
    isEnabled: () => page()?.selection.canUndo ?? false,
    execute: () => page()?.selection.undo()
  });
  commands.addCommand(ACTIONS.redo, {
    label: 'Redo the selection',
    icon: redoIcon,
    isEnabled: () => page()?.selection.canRedo ?? false,
    execute: () => page()?.selection.redo()
  });
  commands.addCommand(ACTIONS.fit, {
    label: 'Show the whole time',
    icon: fitIcon,
    isEnabled: () => page() !== undefined,
    execute: () => page()?.viewport.fit()
  });
  commands.addCommand(ACTIONS.report, {
    label: 'Save as a report',
    caption: 'Write what the kernel has recorded into an HTML file beside the notebook',
    icon: reportIcon,
    isEnabled: () => places.current?.answers ?? false,
    execute: async () => {
      const place = places.current;
      if (place) await exportReport(place);
    }
  });
}

function tellOfChange({ app: { commands } }: Parts): void {
  for (const id of Object.values(ACTIONS)) commands.notifyCommandChanged(id);
}
