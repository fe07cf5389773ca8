import { count, plural } from '@dask-insight/panels/core/format';
import { element, setWords } from '@dask-insight/panels/panels/element';
import type { ClusterState, KernelState } from '../kernels/kernel-state';
import { Notice } from '../kernels/notice';
import type { Place } from '../kernels/place';
import { situationOf, stateOf } from '../kernels/situation';
import { ClusterView } from './cluster-view';

/** How the kernel of a place and its clusters stand. */
export class StateView {
  readonly element = element('section', { class: 'di-state', 'aria-label': 'State' });
  private readonly head = element('h3', {});
  private readonly kernel = element('p', { class: 'di-kernel' });
  private readonly notice = new Notice();
  private readonly clusters = element('div', { class: 'di-clusters' });
  private views: ClusterView[] = [];
  private readonly losses = element('ul', { class: 'di-losses', 'aria-label': 'Not shown' });

  constructor() {
    this.element.append(this.head, this.kernel, this.notice.element, this.clusters, this.losses);
  }

  show(place: Place | undefined): void {
    const situation = situationOf(place);
    this.notice.show(situation);
    setWords(this.head, place?.name ?? 'Dask Insight');
    this.head.title = place?.path ?? '';
    const state = stateOf(place);
    setWords(this.kernel, place?.kernel ? kernelWords(place, state) : '');
    this.kernel.hidden = !place?.kernel;
    this.showClusters(state ? [...state.clusters, ...(state.local ? [state.local] : [])] : []);
    const losses = [...lossesOf(state), ...(state ? (place?.live?.page.damages ?? []) : [])];
    while (this.losses.childElementCount > losses.length) this.losses.lastChild?.remove();
    while (this.losses.childElementCount < losses.length) this.losses.append(element('li', {}));
    for (const [at, words] of losses.entries()) setWords(this.losses.children[at] as HTMLElement, words);
    this.losses.hidden = losses.length === 0;
  }

  private showClusters(clusters: readonly ClusterState[]): void {
    const before = this.views;
    this.views = clusters.map(({ address }) => {
      const at = before.findIndex(view => view.address === address);
      return at < 0 ? new ClusterView(address) : before.splice(at, 1)[0];
    });
    for (const view of before) view.element.remove();
    for (const [at, view] of this.views.entries()) {
      view.show(clusters[at]);
      const there = this.clusters.children[at];
      if (there !== view.element) this.clusters.insertBefore(view.element, there ?? null);
    }
  }
}

function kernelWords(place: Place, state: KernelState | undefined): string {
  const name = place.kernel?.name ?? '';
  if (state?.busy !== undefined) return `Kernel ${name}, runs cell [${state.busy}]`;
  return `Kernel ${name}, ${place.kernel?.status ?? 'unknown'}`;
}

function lossesOf(state: KernelState | undefined): string[] {
  if (!state) return [];
  const tasks = state.dropped.get('attempts') ?? 0;
  const limit = state.limit === undefined ? '' : ` (limit ${count(state.limit)}; change it in the settings)`;
  const losses: string[] = [];
  if (tasks > 0) losses.push(`${plural(tasks, 'older task is', 'older tasks are')} not kept${limit}.`);
  if (['resources', 'memory', 'samples'].some(table => state.dropped.get(table))) {
    losses.push('Older samples of CPU, memory and call stacks are not kept.');
  }
  return [...losses, ...state.notes];
}
