import { button, element } from '@dask-insight/panels/panels/element';
import { PANELS } from '@dask-insight/panels/panels/index';
import type { CommandRegistry } from '@lumino/commands';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { ACTIONS } from '../commands';
import { signIcon } from '../icons';
import type { Places } from '../kernels/places';
import { type Documents, OPEN } from '../panels/documents';
import { dragFrom } from './dragging';
import { Entries } from './entries';
import { StateView } from './state-view';

/** What stands at the foot of the sidebar. */
const OFFERED = [ACTIONS.layout, ACTIONS.save, ACTIONS.toggle];

/** The state of the current notebook's kernel, and the panels to open or to drag. */
export class Sidebar extends Widget {
  private readonly state = new StateView();
  private readonly entries: Entries;
  private readonly actions: [string, HTMLButtonElement][];

  constructor(
    private readonly places: Places,
    private readonly documents: Documents,
    private readonly commands: CommandRegistry
  ) {
    super();
    this.id = 'dask-insight-sidebar';
    this.addClass('di-page');
    this.addClass('di-sidebar');
    this.title.icon = signIcon;
    this.title.caption = 'Dask Insight';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Dask Insight');
    this.entries = new Entries(PANELS, {
      open: panel => void commands.execute(OPEN, { panel: panel.id }),
      press: documents.splits
        ? (panel, event) => {
            const place = places.current;
            if (place) dragFrom(event, panel.title, () => documents.made(panel.id, place));
          }
        : undefined
    });
    this.actions = OFFERED.map(id => [id, button('', () => void commands.execute(id))]);
    const foot = element('div', { class: 'di-foot' }, ...this.actions.map(([, press]) => press));
    this.node.append(this.state.element, this.entries.element, foot);
    places.changed.connect(this.update, this);
    commands.commandChanged.connect(this.update, this);
    documents.tracker.widgetAdded.connect((_, widget) => {
      this.update();
      widget.disposed.connect(() => this.update());
    });
    this.update();
  }

  protected override onActivateRequest(_: Message): void {
    this.entries.search.focus();
  }

  protected override onAfterShow(_: Message): void {
    this.update();
  }

  protected override onUpdateRequest(_: Message): void {
    if (!this.isVisible) return;
    const place = this.places.current;
    const open = place ? this.documents.all(place).map(({ content }) => content.panel.id) : [];
    this.state.show(place);
    this.entries.show(place !== undefined, new Set(open));
    for (const [id, press] of this.actions) {
      press.textContent = this.commands.label(id, { short: true });
      press.setAttribute('aria-label', this.commands.label(id));
      press.title = this.commands.caption(id);
      press.disabled = !this.commands.isEnabled(id);
    }
  }
}
