import type { FlameTree } from '../../core/flame-tree';
import { share } from '../../core/format';
import { element } from '../element';

/** Siblings beyond this are not read out one by one. */
const MOST_SIBLINGS = 200;

/** Readers that have been made: ids of elements are made from it. */
let readers = 0;

/**
 * The flame graph for those who listen: a tree of which only the current
 * frame, its siblings and its callers are in the page.
 */
export class TreeReader {
  private readonly prefix = `di-flame-${++readers}`;
  readonly element = element('div', { class: 'di-unseen', role: 'group' });
  active: string | undefined;

  show(tree: FlameTree, node: number, names: readonly string[]): void {
    const callers: number[] = [];
    for (let above = tree.parent[node]; above > 0; above = tree.parent[above]) callers.unshift(above);
    const siblings: number[] = [];
    const parent = tree.parent[node];
    for (let at = parent + 1; at < tree.next[parent] && siblings.length < MOST_SIBLINGS; at = tree.next[at]) {
      siblings.push(at);
    }
    if (!siblings.includes(node)) siblings.push(node);
    const item = (at: number): HTMLElement => {
      let [place, among] = [0, 0];
      const above = tree.parent[at];
      for (let each = above + 1; each < tree.next[above]; each = tree.next[each]) {
        among++;
        if (each <= at) place++;
      }
      return element(
        'div',
        {
          id: `${this.prefix}-${at}`,
          role: 'treeitem',
          'aria-level': tree.depth[at],
          'aria-posinset': place,
          'aria-setsize': among,
          'aria-selected': String(at === node),
          'aria-expanded': tree.next[at] > at + 1 ? String(at !== node) : undefined
        },
        `${names[tree.frame[at]]}, ${share(tree.total[at] / tree.total[0])}`
      );
    };
    this.element.replaceChildren(...[...callers, ...siblings].map(item));
    this.active = `${this.prefix}-${node}`;
  }
}
