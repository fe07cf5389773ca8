import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { ConsolePanel, IConsoleTracker } from '@jupyterlab/console';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Session } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import type { LiveKernel, LiveKernels } from './live-kernel';
import { Place, type PlaceKind } from './place';

/** What of the shell tells where a person is: trackers of one kind of document do not tell of coming back to one. */
export type Shell = Pick<JupyterFrontEnd.IShell, 'currentChanged' | 'currentWidget'>;

/** A place whose document had another path before. */
export interface Renamed {
  readonly place: Place;
  readonly from: string;
}

/** All notebooks and consoles that are open or have panels, and the one that a person is at. */
export class Places {
  private readonly all = new Set<Place>();
  private readonly documents = new Map<Widget, Place>();
  private readonly changedSignal = new Signal<this, void>(this);
  private readonly closedSignal = new Signal<this, Place>(this);
  private readonly renamedSignal = new Signal<this, Renamed>(this);
  private at: Place | undefined;
  private watched: LiveKernel | undefined;

  constructor(
    private readonly kernels: LiveKernels,
    private readonly sessions: Session.IManager,
    private readonly shell: Shell,
    notebooks: INotebookTracker,
    consoles: IConsoleTracker | null
  ) {
    notebooks.forEach(panel => {
      this.addNotebook(panel);
    });
    notebooks.widgetAdded.connect((_, panel) => this.addNotebook(panel));
    consoles?.forEach(panel => {
      this.addConsole(panel);
    });
    consoles?.widgetAdded.connect((_, panel) => this.addConsole(panel));
    shell.currentChanged?.connect(() => this.enter());
    const last = notebooks.currentWidget ?? consoles?.currentWidget;
    if (last) this.current = this.documents.get(last);
    this.enter();
  }

  /** Where a person is, or was last; an open one if there is any. */
  get current(): Place | undefined {
    return this.at;
  }

  set current(place: Place | undefined) {
    if (place === this.at) return;
    this.at?.changed.disconnect(this.tell, this);
    this.at = place;
    place?.changed.connect(this.tell, this);
    this.tell();
  }

  /** Tells when another one is current, or something about the current one has changed. */
  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  /** Tells when the document of a place has been closed. */
  get closed(): ISignal<this, Place> {
    return this.closedSignal;
  }

  /** Tells when the document of a place has another path. */
  get renamed(): ISignal<this, Renamed> {
    return this.renamedSignal;
  }

  /** The place with this id; undefined if it is not known. */
  get(id: string): Place | undefined {
    for (const place of this.all) if (place.id === id) return place;
    return undefined;
  }

  /** The place of a document, whether that is open or not. */
  named(kind: PlaceKind, path: string): Place {
    const known = this.get(`${kind}:${path}`);
    if (known) return known;
    const place = new Place(kind, path, this.kernels);
    place.replaced.connect(() => this.tidy());
    this.all.add(place);
    return place;
  }

  /** The document of a place in the page. */
  documentOf(place: Place): Widget | undefined {
    for (const [document, its] of this.documents) if (its === place) return document;
    return undefined;
  }

  /** Finds a kernel that still runs for a place whose document is closed. */
  async seek(place: Place): Promise<void> {
    if (place.open || place.kernel) return;
    await this.sessions.ready;
    const model = await this.sessions.findByPath(place.path);
    if (place.open || place.kernel) return;
    // Comms are left to the document when it opens: here nobody has the targets of its widgets, and services close
    // what they have no target for, for all pages.
    const kernelConnectionOptions = { handleComms: false };
    place.lend(model?.kernel ? this.sessions.connectTo({ model, kernelConnectionOptions }) : undefined);
  }

  /** Lets go of what no open document and none of these places needs. */
  keep(used: ReadonlySet<Place>): void {
    for (const place of this.all) {
      if (place.open || used.has(place)) continue;
      this.all.delete(place);
      if (place === this.current) this.current = undefined;
      place.dispose();
    }
    this.tidy();
    this.current ??= [...this.documents.values()].at(-1);
  }

  /** Lets go of kernels that no place shows any more. */
  private tidy(): void {
    const needed = [...this.all].flatMap(({ live }) => (live ? [live] : []));
    this.kernels.keep(new Set(needed));
  }

  private addNotebook(panel: NotebookPanel): void {
    const { context, sessionContext } = panel;
    const place = this.add('notebook', context.path, panel, sessionContext);
    context.pathChanged.connect((_, path) => this.rename(place, path));
  }

  private addConsole(panel: ConsolePanel): void {
    const { sessionContext } = panel;
    const place = this.add('console', sessionContext.path, panel, sessionContext);
    const name = (): void => place.call(panel.title.label);
    panel.title.changed.connect(name);
    name();
    sessionContext.propertyChanged.connect((_, property) => {
      if (property === 'path') this.rename(place, sessionContext.path);
    });
  }

  private rename(place: Place, path: string): void {
    const from = place.path;
    place.rename(path);
    this.renamedSignal.emit({ place, from });
  }

  private add(kind: PlaceKind, path: string, panel: Widget, context: ISessionContext): Place {
    const place = this.named(kind, path);
    this.documents.set(panel, place);
    place.attach(context);
    panel.disposed.connect(() => {
      this.documents.delete(panel);
      // It may be open in a second view.
      if (this.documentOf(place)) return;
      place.detach(context);
      this.closedSignal.emit(place);
      this.tell();
    });
    this.current ??= place;
    // The shell may have told of it before.
    this.enter();
    return place;
  }

  /** A person is at the document that is in front of them, if it is one of these. */
  private enter(): void {
    const { currentWidget } = this.shell;
    const place = currentWidget && this.documents.get(currentWidget);
    if (place) this.current = place;
  }

  /** The kernel that a person is at is always listened to: its state is shown, and panels open with its history. */
  private watch(): void {
    const live = this.at?.live;
    if (live === this.watched) return;
    this.watched?.show(this, false);
    live?.show(this, true);
    this.watched = live;
  }

  private tell(): void {
    this.watch();
    this.changedSignal.emit();
  }
}
