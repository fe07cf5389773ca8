import { duration } from '../core/format';
import type { Clause } from '../core/selection';
import { element } from './element';
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

/** The clauses in force as chips, each with a × that takes it back. */
export function fillChips(box: HTMLElement, { selection, recording }: Stage): void {
  const chips = selection.clauses.map(clause => {
    const words = clauseWords(clause, recording.origin);
    const close = element(
      'button',
      { type: 'button', class: 'di-chip-close', 'aria-label': `Clear ${words}` },
      '×'
    );
    close.addEventListener('click', () => selection.clear(clause.source, clause.column));
    const text = element('bdi', {
      class: 'di-chip-text',
      title: Array.isArray(clause.value) ? clause.value.join('\n') : ''
    });
    text.textContent = words;
    return element('span', { class: `di-chip di-chip-${clause.column}` }, text, close);
  });
  box.replaceChildren(...chips);
}
