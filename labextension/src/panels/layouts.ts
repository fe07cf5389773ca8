import { PANELS } from '@dask-insight/panels/panels/index';
import { DockPanel, type Widget } from '@lumino/widgets';
import type { Place } from '../kernels/place';
import type { Places } from '../kernels/places';
import { arrange, arrangement } from './dock';
import type { Documents } from './documents';
import type { Hidden } from './hidden';
import { NOTEBOOK, type Step, stepsOf, treeOf, without } from './steps';

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

  /**
   * Opens the panels that the steps name and puts them where these say; others of the place stay open.
   * Those that only other releases have are left out.
   */
  apply(wanted: readonly Step[], place: Place): void {
    const steps = wanted.filter(({ panel }) => PANELS.some(({ id }) => id === panel));
    const names = [...new Set(steps.map(({ panel }) => panel))];
    const widgets = new Map<string, Widget>();
    for (const name of names) widgets.set(name, this.documents.open(name, place, { activate: false }));
    const [first] = widgets.values();
    if (!first) return;
    this.hidden.remove(place);
    const dock = dockOf(this.places.documentOf(place)) ?? dockOf(first);
    // With one document at a time there is nothing to split.
    if (dock && dock.mode !== 'single-document')
      arrange(dock, this.places.documentOf(place), treeOf(steps), widgets);
  }

  /** How the panels of a place stand now, as steps; empty if there are none. */
  stepsOf(place: Place): readonly Step[] {
    const widgets = this.documents.all(place).filter(widget => widget.isAttached);
    const home = this.places.documentOf(place);
    const dock = dockOf(home) ?? dockOf(widgets[0]);
    const names = new Map<Widget, string>(widgets.map(widget => [widget, widget.content.panel.id]));
    const tree = dock && arrangement(dock, home, widget => names.get(widget));
    // What stands in no main area, as those of Notebook 7 do, stands in no order either.
    const all = [...names.values()].map((panel): Step => ({ panel, beside: NOTEBOOK, where: 'tab' }));
    return tree ? [...stepsOf(tree), ...without(all, stepsOf(tree))] : all;
  }

  /** Whether there are panels that `showAll` brings back: one that was opened meanwhile is not hidden. */
  get anyHidden(): boolean {
    const open = new Set(
      this.documents.all().map(({ content }) => `${content.panel.id} ${content.place.id}`)
    );
    return this.hidden.all.some(({ kind, path, steps }) =>
      steps.some(({ panel }) => !open.has(`${panel} ${kind}:${path}`))
    );
  }

  /** Takes all panels of all places out of sight. */
  hideAll(): void {
    const all = this.documents.all();
    const places = new Set(all.map(({ content }) => content.place));
    for (const place of places) this.hidden.add(place, this.stepsOf(place));
    for (const widget of all) widget.dispose();
  }

  /** Brings hidden panels back to where they stood. */
  showAll(): void {
    for (const { kind, path, steps } of this.hidden.all) {
      // Its document may have been closed meanwhile.
      const place = this.places.named(kind, path);
      this.apply(steps, place);
      void this.places.seek(place);
    }
  }
}

function dockOf(widget: Widget | undefined): DockPanel | undefined {
  return widget?.parent instanceof DockPanel ? widget.parent : undefined;
}
