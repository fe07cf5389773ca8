import { PANELS } from '@dask-insight/panels/panels/index';
import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { UUID } from '@lumino/coreutils';
import { ConflatableMessage, MessageLoop } from '@lumino/messaging';
import { DockPanel, SplitPanel, type Widget } from '@lumino/widgets';
import { panelIcon } from '../icons';
import type { Place, PlaceKind } from '../kernels/place';
import type { Places } from '../kernels/places';
import { reveal } from './dock';
import { PanelBody } from './panel-body';

export type PanelWidget = MainAreaWidget<PanelBody>;

interface OpenOptions extends DocumentRegistry.IOpenOptions {
  /** Puts the keyboard into it. */
  readonly activate?: boolean;
  /** Makes it the current one of its tabs. */
  readonly front?: boolean;
}

/** The command that opens a panel; also what brings panels back after a reload. */
export const OPEN = 'dask-insight:open';

/** Height below which a panel says little, CSS pixels. */
const LEAST_HEIGHT = 220;

/** All panels that are open, as documents of JupyterLab. Each is there at most once for a place. */
export class Documents {
  readonly tracker = new WidgetTracker<PanelWidget>({ namespace: 'dask-insight' });

  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly places: Places,
    /** Whether there is a main area that can be split; without it panels go below the document. */
    readonly splits: boolean,
    private readonly exportReport: (place: Place) => void
  ) {
    const { shell } = app;
    shell.currentChanged?.connect(() => {
      const panel = this.all().find(widget => widget === shell.currentWidget);
      if (panel) places.current = panel.content.place;
    });
    places.closed.connect((_, place) => {
      this.tidy();
      // Its kernel may live on, and its panels with it.
      if (this.all(place).length > 0) void places.seek(place);
    });
  }

  /** Brings back the panels that were open before the page was loaded. */
  restore(restorer: ILayoutRestorer): void {
    void restorer.restore(this.tracker, {
      command: OPEN,
      args: ({ content: { panel, place } }) => ({
        panel: panel.id,
        kind: place.kind,
        path: place.path,
        latest: place.latest,
        activate: false
      }),
      name: ({ content: { panel, place } }) => `${panel.id}:${place.id}`
    });
    void this.app.restored.then(() => {
      for (const widget of this.all()) {
        // The saved layout may have no room for it.
        if (!widget.isAttached) widget.dispose();
      }
    });
  }

  /** The panels of a place, or of all. */
  all(place?: Place): PanelWidget[] {
    const found: PanelWidget[] = [];
    this.tracker.forEach(widget => {
      if (!place || widget.content.place === place) found.push(widget);
    });
    return found;
  }

  /** The panel of a place, made if there is none. It has to be put somewhere. Throws `Error` for an unknown id. */
  made(id: string, place: Place): PanelWidget {
    const known = this.all(place).find(({ content }) => content.panel.id === id);
    if (known) return known;
    const panel = PANELS.find(each => each.id === id);
    if (!panel) throw new Error(`there is no panel '${id}'`);
    const content = new PanelBody(panel, place, () => this.exportReport(place));
    const widget = new MainAreaWidget({ content });
    // The panel has its controls in its own header line.
    widget.toolbar.hide();
    widget.id = `dask-insight-${UUID.uuid4()}`;
    widget.addClass('di-document');
    widget.title.icon = panelIcon(id);
    widget.title.closable = true;
    const now = (): string => `${place.id} ${place.latest}`;
    let saved = now();
    const changed = (): void => {
      this.label();
      if (saved === now()) return;
      saved = now();
      void this.tracker.save(widget).then(() => saveLayout(widget));
    };
    place.changed.connect(changed);
    // Its tracker has to let go of it before the others look at what is left.
    void this.tracker.add(widget);
    widget.disposed.connect(() => {
      place.changed.disconnect(changed);
      this.tidy();
      this.label();
    });
    this.label();
    return widget;
  }

  /** Says on the tabs what each is; of which document, only where there are panels of several. */
  private label(): void {
    const all = this.all();
    const isOne = new Set(all.map(({ content }) => content.place)).size < 2;
    for (const { title, content } of all) {
      const { panel, place } = content;
      title.label = isOne ? panel.title : `${panel.title} · ${place.name.replace(/\.ipynb$/, '')}`;
      title.caption = `${panel.title} of ${place.path}`;
    }
  }

  /** Opens a panel, or comes back to it; without `activate` the keyboard stays where it is. */
  open(
    id: string,
    place: Place,
    { activate = true, front = false, ...options }: OpenOptions = {}
  ): PanelWidget {
    const widget = this.made(id, place);
    if (!widget.isAttached) {
      const { shell } = this.app;
      const berth = { ...this.berth(place), activate: false, ...options };
      shell.add(widget, this.splits ? 'main' : 'down', berth);
      // Notebook 7.2 has no area below the document, but one beside it.
      if (!widget.isAttached) shell.add(widget, 'right', berth);
      else if (!this.splits) requestAnimationFrame(() => uncover(widget));
    }
    // Before, its document may still come, and the panel go.
    void this.app.restored.then(() => {
      if (!widget.isDisposed) void this.places.seek(place);
    });
    if (front) reveal(widget, this.places.documentOf(place));
    // The command palette gives the keyboard back to where it was: the panel asks for it afterwards.
    if (activate) queueMicrotask(() => this.app.shell.activateById(widget.id));
    return widget;
  }

  /** The place with this kind and path, as a saved layout names it. */
  placeOf(kind: unknown, path: unknown): Place | undefined {
    const known: unknown[] = ['notebook', 'console'];
    return known.includes(kind) && typeof path === 'string'
      ? this.places.named(kind as PlaceKind, path)
      : this.places.current;
  }

  /** Lets go of what no open document and no panel needs. */
  private tidy(): void {
    this.places.keep(new Set(this.all().map(({ content }) => content.place)));
  }

  /** Where a new panel goes: below the last one of its place while there is room, else as a tab of it. */
  private berth(place: Place): { mode: DocumentRegistry.IOpenOptions['mode']; ref: string | undefined } {
    const last = this.all(place)
      .filter(widget => widget.isVisible)
      .at(-1);
    if (!last) return { mode: 'split-right', ref: this.places.documentOf(place)?.id };
    const mode = last.node.clientHeight >= 2 * LEAST_HEIGHT ? 'split-bottom' : 'tab-after';
    return { mode, ref: last.id };
  }
}

/** Has the layout saved under the names that widgets have now; Lab does so only when something is moved. */
function saveLayout({ parent }: Widget): void {
  if (parent instanceof DockPanel) MessageLoop.postMessage(parent, new ConflatableMessage('layout-modified'));
}

/** Shows the area below the document; Notebook leaves it hidden, or as flat as its tabs. */
function uncover(widget: Widget): void {
  for (let each = widget.parent; each; each = each.parent) {
    if (each.isHidden) each.show();
    if (!(each instanceof SplitPanel) || each.orientation !== 'vertical') continue;
    if (widget.node.clientHeight < LEAST_HEIGHT) each.setRelativeSizes([3, 2]);
    return;
  }
}
