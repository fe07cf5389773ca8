import { PANELS } from '@dask-insight/panels/panels/index';
import { DockPanel, type Widget } from '@lumino/widgets';
import type { Place } from '../kernels/place';
import type { Places } from '../kernels/places';
import { arrange, arrangement } from './dock';
import type { Documents, PanelWidget } from './documents';
import type { Hidden } from './hidden';
import { NOTEBOOK, placedAs, type Step, stepsOf, treeOf, without } from './steps';

/** Puts the panels of a notebook in order around it, hides them and brings them back. */
export class Layouts {
  constructor(
    private readonly documents: Documents,
    private readonly places: Places,
    private readonly hidden: Hidden
  ) {
    places.renamed.connect((_, { place, from }) =>
      hidden.rename({ kind: place.kind, path: from }, place.path)
    );
  }

  /** Whether one document is shown at a time, as in Simple mode: nothing stands beside another there. */
  isSingle(place: Place): boolean {
    return this.dockOf(place)?.mode === 'single-document';
  }

  /**
   * Opens the panels that the steps name and puts them where these say; others of the place stay open.
   * Those that only other releases have are left out.
   */
  apply(wanted: readonly Step[], place: Place): void {
    const steps = wanted.filter(({ panel }) => PANELS.some(({ id }) => id === panel));
    const names = [...new Set(steps.map(({ panel }) => panel))];
    const widgets = new Map<string, Widget>();
    for (const name of names) widgets.set(name, this.documents.open(name, place, { activate: false }));
    const [first] = names;
    if (!first) return;
    this.hidden.remove(place);
    const dock = this.dockOf(place);
    // Where one is seen at a time none is yet.
    if (this.isSingle(place)) this.documents.open(first, place);
    else if (dock) arrange(dock, this.places.documentOf(place), treeOf(steps), widgets);
  }

  /** How the panels of a place stand now, as steps; empty if there are none. */
  stepsOf(place: Place): readonly Step[] {
    const dock = this.dockOf(place);
    const widgets = this.attached(place);
    const names = new Map<Widget, string>(widgets.map(widget => [widget, widget.content.panel.id]));
    const tree = dock && arrangement(dock, this.places.documentOf(place), widget => names.get(widget));
    // What stands in no main area, as those of Notebook 7 do, stands in no order either.
    const all = [...names.values()].map((panel): Step => ({ panel, beside: NOTEBOOK, where: 'tab' }));
    return tree ? [...stepsOf(tree), ...without(all, stepsOf(tree))] : all;
  }

  /** Whether there are panels that `showAll` brings back. */
  get anyHidden(): boolean {
    return this.hidden.all.length > 0;
  }

  /** Takes all panels of all places out of sight; those that stand in no order are to come back as usual. */
  hideAll(usual: readonly Step[]): void {
    const all = this.documents.all();
    for (const place of new Set(all.map(({ content }) => content.place))) {
      const steps = this.stepsOf(place);
      this.hidden.add(place, this.isSingle(place) ? placedAs(usual, steps) : steps);
    }
    for (const widget of all) widget.dispose();
  }

  /** Brings hidden panels back to where they stood: those of documents that are open, else those of all. */
  showAll(): void {
    const { all } = this.hidden;
    const open = all.filter(({ kind, path }) => this.places.get(`${kind}:${path}`)?.open);
    for (const { kind, path, steps } of open.length > 0 ? open : all) {
      this.apply(steps, this.places.named(kind, path));
    }
  }

  private attached(place: Place): PanelWidget[] {
    return this.documents.all(place).filter(widget => widget.isAttached);
  }

  /** The dock panel that a document and its panels stand in; undefined in Notebook 7. */
  private dockOf(place: Place): DockPanel | undefined {
    return dockOf(this.places.documentOf(place)) ?? dockOf(this.attached(place)[0]);
  }
}

function dockOf(widget: Widget | undefined): DockPanel | undefined {
  return widget?.parent instanceof DockPanel ? widget.parent : undefined;
}
