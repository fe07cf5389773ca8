import { bytes, count, plural } from '@dask-insight/panels/core/format';
import { element } from '@dask-insight/panels/panels/element';
import type { ClusterState, KernelState } from '../kernels/kernel-state';
import { Notice } from '../kernels/notice';
import type { Place } from '../kernels/place';
import { situationOf, stateOf } from '../kernels/situation';

/** How the kernel of a place and its clusters stand. */
export class StateView {
  readonly element = element('section', { class: 'di-state', 'aria-label': 'State' });
  private readonly head = element('h3', {});
  private readonly kernel = element('p', { class: 'di-kernel' });
  private readonly notice = new Notice();
  private readonly clusters = element('div', { class: 'di-clusters' });
  private readonly losses = element('ul', { class: 'di-losses', 'aria-label': 'Not shown' });

  constructor() {
    this.element.append(this.head, this.kernel, this.notice.element, this.clusters, this.losses);
  }

  show(place: Place | undefined): void {
    const situation = situationOf(place);
    this.notice.show(situation);
    this.head.textContent = place?.name ?? 'Dask Insight';
    this.head.title = place?.path ?? '';
    const state = stateOf(place);
    this.kernel.textContent = place?.kernel ? kernelWords(place, state) : '';
    this.kernel.hidden = !place?.kernel;
    const clusters = state ? [...state.clusters, ...(state.local ? [state.local] : [])] : [];
    this.clusters.replaceChildren(...clusters.map(clusterFacts));
    const losses = [...lossesOf(state), ...(state ? (place?.live?.page.damages ?? []) : [])];
    this.losses.replaceChildren(...losses.map(words => element('li', {}, words)));
    this.losses.hidden = this.losses.childElementCount === 0;
  }
}

function kernelWords(place: Place, state: KernelState | undefined): string {
  const name = place.kernel?.name ?? '';
  if (state?.busy !== undefined) return `Kernel ${name}, runs cell [${state.busy}]`;
  return `Kernel ${name}, ${place.kernel?.status ?? 'unknown'}`;
}

function clusterFacts(cluster: ClusterState): HTMLElement {
  const { address, workers, threads, memory, memoryLimit, tasks } = cluster;
  const local = address === '';
  const facts: [string, string][] = [];
  if (!local) {
    facts.push(['Workers', count(workers)], ['Threads', count(threads)]);
    facts.push(['Memory', memoryLimit ? `${bytes(memory)} of ${bytes(memoryLimit)}` : bytes(memory)]);
  }
  facts.push(['Tasks', `${count(tasks.done)} of ${count(tasks.total)}`]);
  if (tasks.erred > 0) facts.push(['Erred', count(tasks.erred)]);
  const list = element('dl', {});
  for (const [name, value] of facts) {
    list.append(element('dt', {}, name), element('dd', { 'data-fact': name.toLowerCase() }, value));
  }
  const share = tasks.total > 0 ? tasks.done / tasks.total : 0;
  const bar = element('progress', { max: 1, value: share, 'aria-label': 'Tasks done' });
  const title = local ? 'Local scheduler' : address;
  return element('div', { class: 'di-cluster' }, element('h4', { title }, title), list, bar);
}

function lossesOf(state: KernelState | undefined): string[] {
  if (!state) return [];
  const tasks = state.dropped.get('attempts') ?? 0;
  const limit = state.limit === undefined ? '' : ` (limit ${count(state.limit)}; change it in the settings)`;
  const older = tasks > 0 ? [`${plural(tasks, 'older task is', 'older tasks are')} not kept${limit}.`] : [];
  return [...older, ...state.notes];
}
