import { duration, shortened } from '../core/format';
import type { Clause } from '../core/selection';
import { element } from './element';
import { icon } from './icons';
import type { Stage } from './panel';

/** What a clause says, in a few words. */
export function clauseWords(clause: Clause, origin: number): string {
  if (clause.column === 'time') {
    const { start, stop } = clause.value;
    return `${duration(start - origin)} – ${duration(stop - origin)}`;
  }
  const { value } = clause;
  const one = { name: 'task', worker: 'worker', span: 'span', run: 'attempt' }[clause.column];
  if (value.length > 1) return `${value.length} ${one}s`;
  return clause.column === 'name' ? String(value[0]) : `${one} ${value[0]}`;
}

/** The clauses in force as chips; a click takes one back. Those of the panel itself are outlined. */
export function fillChips(box: HTMLElement, panel: string, { selection, recording }: Stage): void {
  const chips = selection.clauses.map(clause => {
    const words = clauseWords(clause, recording.origin);
    const text = element('span', { dir: 'auto' }, shortened(words, 40));
    const isOwn = clause.source === panel;
    const chip = element(
      'button',
      { type: 'button', class: isOwn ? 'di-chip di-own' : 'di-chip', 'aria-label': `Clear ${words}` },
      text,
      icon('close')
    );
    chip.title = `${words}: ${isOwn ? 'chosen here, narrows the other panels' : 'narrows this panel'}`;
    chip.addEventListener('click', () => selection.clear(clause.source, clause.column));
    return chip;
  });
  box.replaceChildren(...chips);
}
