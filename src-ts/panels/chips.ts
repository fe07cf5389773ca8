import { range, shortened } from '../core/format';
import type { Recording } from '../core/recording';
import type { Clause } from '../core/selection';
import { listedSpans, spanName } from '../core/spans';
import { clickable, element } from './element';
import { icon } from './icons';
import type { Panel, Stage } from './panel';
import { workerLabel } from './worker-label';

/** What a clause says, in a few words. */
export function clauseWords(clause: Clause, { recording, tasks }: Stage): string {
  if (clause.column === 'time') {
    const { start, stop } = clause.value;
    const { origin } = recording;
    return range(start - origin, stop - origin);
  }
  if (clause.column === 'span') return spanWords(clause.value, recording);
  const { column, value } = clause;
  const one = { name: 'task name', worker: 'worker', run: 'attempt', cell: 'cell', line: 'line' }[column];
  if (value.length > 1) return `${value.length} ${one}s`;
  const word = String(value[0]);
  switch (column) {
    case 'name':
      return word;
    case 'worker':
      return `worker ${workerLabel(tasks, word).replace(/^worker /, '')}`;
    case 'cell':
      return `cell [${word}]`;
    case 'line':
      return `line ${word.split(/[/\\]/).at(-1)}`;
    default:
      return `attempt ${word}`;
  }
}

/** The same of all clauses in force. */
export function clausesWords(stage: Stage): string[] {
  return stage.selection.clauses.map(clause => clauseWords(clause, stage));
}

/** A span that is chosen with all inside it counts as one, and so do those of one name. */
function spanWords(ids: readonly string[], recording: Recording): string {
  const chosen = new Set(ids);
  const whole = listedSpans(recording).filter(({ within }) => within.every(id => chosen.has(id)));
  const inner = new Set(whole.flatMap(({ within }) => within.slice(1)));
  const outer = whole.filter(({ id }) => !inner.has(id));
  if (outer.length > 1) return `${outer.length} spans`;
  const name = outer[0]?.path ?? spanName(recording, ids[0]);
  return name.startsWith('no span') ? name : `span ${name}`;
}

/**
 * The clauses in force as chips; a click takes one back. Those of the panel itself are outlined, and are all that one
 * has which others do not narrow.
 */
export function fillChips(box: HTMLElement, { id, isWhole }: Panel, stage: Stage): void {
  const { selection } = stage;
  const clauses = selection.clauses.filter(({ source }) => !isWhole || source === id);
  const chips = clauses.map(clause => {
    const words = clauseWords(clause, stage);
    const text = element('span', { dir: 'auto' }, shortened(words, 32));
    const isOwn = clause.source === id;
    return clickable(
      {
        class: isOwn ? 'di-chip di-own' : 'di-chip',
        'aria-label': `Clear ${words}`,
        title: `${words}: chosen${isOwn ? ' here, narrows the other panels' : ''}`
      },
      () => selection.clear(clause.source, clause.column),
      text,
      icon('close')
    );
  });
  box.replaceChildren(...chips);
}
