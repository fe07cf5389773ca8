import type { Control } from '@dask-insight/panels/hosts/live-controls';
import type { LivePanel } from '@dask-insight/panels/hosts/live-page';
import { element } from '@dask-insight/panels/panels/element';
import type { Panel } from '@dask-insight/panels/panels/panel';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import type { LiveKernel } from '../kernels/live-kernel';
import { Notice } from '../kernels/notice';
import type { Place } from '../kernels/place';
import { situationOf } from '../kernels/situation';
import { tools } from './tools';

/** A panel of a place: shows what the kernel sends that runs there now. */
export class PanelBody extends Widget {
  private readonly notice = new Notice();
  private readonly room = element('div', { class: 'di-room' });
  private live: LiveKernel | undefined;
  private mounted: LivePanel | undefined;
  private tools: Control | undefined;

  constructor(
    readonly panel: Panel,
    readonly place: Place,
    private readonly exportReport: () => void
  ) {
    super();
    this.addClass('di-panel-body');
    this.node.dataset.panel = panel.id;
    this.node.append(this.notice.element, this.room);
    place.changed.connect(this.renew, this);
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.place.changed.disconnect(this.renew, this);
    this.unmount();
    super.dispose();
  }

  protected override onAfterAttach(_: Message): void {
    this.renew();
    this.look();
  }

  protected override onBeforeDetach(_: Message): void {
    this.live?.show(this, false);
  }

  protected override onAfterShow(_: Message): void {
    this.look();
  }

  protected override onAfterHide(_: Message): void {
    this.look();
  }

  protected override onActivateRequest(_: Message): void {
    if (this.mounted) this.mounted.focus();
    else {
      this.node.tabIndex = -1;
      this.node.focus();
    }
  }

  private look(): void {
    this.live?.show(this, this.isVisible);
  }

  /** The place may have another kernel, or its kernel something else to say. */
  private renew(): void {
    const { live } = this.place;
    const situation = situationOf(this.place);
    this.notice.show(situation);
    // One answer to why there is nothing, not the panel's own beside it.
    const answered = situation.kind !== 'well' && (live?.empty ?? true);
    if (this.hasClass('di-answered') !== answered) this.toggleClass('di-answered', answered);
    if (live === this.live || !this.isAttached) return;
    this.unmount();
    this.live = live;
    if (live) this.mount(live);
    this.look();
  }

  private mount(live: LiveKernel): void {
    this.mounted = live.page.mount(this.panel.id, this.room, { titled: false, fill: true });
    this.tools = tools(live, this.place, this.exportReport);
    this.mounted.element.querySelector(':scope > header > h2')?.after(this.tools.element);
  }

  private unmount(): void {
    this.live?.show(this, false);
    this.tools?.dispose();
    this.mounted?.dispose();
    this.mounted = this.tools = this.live = undefined;
  }
}
