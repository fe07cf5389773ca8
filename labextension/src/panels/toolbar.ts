import { cellPicker, followButton, pauseButton } from '@dask-insight/panels/hosts/live-controls';
import type { LivePage } from '@dask-insight/panels/hosts/live-page';
import { button } from '@dask-insight/panels/panels/element';
import { icon } from '@dask-insight/panels/panels/icons';
import { Toolbar } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import type { Place } from '../kernels/place';

interface Control {
  readonly element: HTMLElement;
  dispose(): void;
}

type Make = (page: LivePage) => Control;

/** What can be done with the panels of a place; it follows the place's kernel. */
export class PanelToolbar extends Toolbar {
  private page: LivePage | undefined;
  private items: Widget[] = [];
  private stops: (() => void)[] = [];

  constructor(
    private readonly place: Place,
    private readonly exportReport: () => void
  ) {
    super();
    this.addClass('di-page');
    this.addClass('di-toolbar');
    this.node.setAttribute('aria-label', 'Dask Insight');
    place.changed.connect(this.renew, this);
    this.renew();
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.place.changed.disconnect(this.renew, this);
    this.clear();
    super.dispose();
  }

  private renew(): void {
    const page = this.place.live?.page;
    if (page === this.page) return;
    this.clear();
    this.page = page;
    if (!page) return;
    const makers: [string, Make][] = [
      ['follow', followButton],
      ['pause', pauseButton],
      ['undo', undoButton],
      ['redo', redoButton],
      ['fit', fitButton],
      ['cell', cellPicker],
      ['report', () => plain(button('Save as a report', this.exportReport, icon('save')))]
    ];
    for (const [name, make] of makers) {
      const control = make(page);
      const widget = new Widget({ node: control.element });
      this.items.push(widget);
      this.stops.push(() => control.dispose());
      this.addItem(name, widget);
    }
  }

  private clear(): void {
    for (const stop of this.stops.splice(0)) stop();
    for (const item of this.items.splice(0)) item.dispose();
    this.page = undefined;
  }
}

function undoButton({ selection }: LivePage): Control {
  const made = button('Undo the selection (Ctrl + Z)', () => selection.undo(), icon('undo'));
  return kept(
    made,
    callback => selection.subscribe(callback),
    () => !selection.canUndo
  );
}

function redoButton({ selection }: LivePage): Control {
  const made = button('Redo the selection (Ctrl + Shift + Z)', () => selection.redo(), icon('redo'));
  return kept(
    made,
    callback => selection.subscribe(callback),
    () => !selection.canRedo
  );
}

function fitButton({ viewport }: LivePage): Control {
  const made = button('Show the whole time (0)', () => viewport.fit(), icon('fit'));
  return kept(
    made,
    callback => viewport.subscribe(callback),
    () => viewport.fitted
  );
}

function kept(
  made: HTMLButtonElement,
  subscribe: (callback: () => void) => () => void,
  idle: () => boolean
): Control {
  const update = (): void => {
    made.disabled = idle();
  };
  update();
  const stop = subscribe(update);
  return { element: made, dispose: stop };
}

function plain(made: HTMLElement): Control {
  return { element: made, dispose: () => undefined };
}
