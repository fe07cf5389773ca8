import { bytes, count, plural } from '@dask-insight/panels/core/format';
import { element, setWords } from '@dask-insight/panels/panels/element';
import type { ClusterState } from '../kernels/kernel-state';

/** How one cluster stands. Only what has changed is touched, so that text which is marked stays so. */
export class ClusterView {
  readonly element: HTMLElement;
  private readonly list = element('dl', {});
  private readonly bar = element('progress', { max: 1, 'aria-label': 'Tasks done' });
  private readonly terms = new Map<string, readonly [name: HTMLElement, value: HTMLElement]>();

  constructor(readonly address: string) {
    const title = address === '' ? 'Local scheduler' : address;
    this.element = element(
      'div',
      { class: 'di-cluster' },
      element('h4', { title }, title),
      this.list,
      this.bar
    );
  }

  show(cluster: ClusterState): void {
    const facts = factsOf(cluster);
    for (const [name, value] of facts) setWords(this.valueOf(name), value);
    for (const [name, term] of this.terms) {
      if (facts.has(name)) continue;
      for (const each of term) each.remove();
      this.terms.delete(name);
    }
    const { total, done } = cluster.tasks;
    this.bar.value = total > 0 ? done / total : 0;
  }

  private valueOf(name: string): HTMLElement {
    const known = this.terms.get(name);
    if (known) return known[1];
    const value = element('dd', { 'data-fact': name.toLowerCase() });
    const term = [element('dt', {}, name), value] as const;
    this.terms.set(name, term);
    this.list.append(...term);
    return value;
  }
}

function factsOf({
  address,
  workers,
  paused,
  threads,
  memory,
  memoryLimit,
  tasks
}: ClusterState): Map<string, string> {
  const facts = new Map<string, string>();
  if (address !== '') {
    facts.set('Workers', count(workers)).set('Threads', count(threads));
    if (paused > 0) facts.set('Paused', plural(paused, 'worker'));
    facts.set('Memory', memoryLimit ? `${bytes(memory)} of ${bytes(memoryLimit)}` : bytes(memory));
  }
  facts.set('Tasks', `${count(tasks.done)} of ${count(tasks.total)}`);
  if (tasks.erred > 0) facts.set('Failed', count(tasks.erred));
  return facts;
}
