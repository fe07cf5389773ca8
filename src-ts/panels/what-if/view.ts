import { duration, share } from '../../core/format';
import { type Possible, type WhatIf, whatIfsOf } from '../../core/what-if';
import { keepFocus } from '../../draw/focus';
import { clickable, element, setPressed, swatch } from '../element';
import { inline } from '../findings/prose';
import { notExplained } from '../no-tasks';
import type { PanelContext, PanelView, TableRows } from '../panel';
import { nameColor } from '../task-stream/colors';
import { number, tableOf, text } from '../things';
import { BOUND_WORDS, boundWords, changeWords, timeWords } from './words';

const SOURCE = 'what-if';

/** Everything that has a time, in its order. */
function timesOf({ recorded, bounds, answers }: WhatIf): Possible[] {
  return [...(recorded ? [recorded] : []), ...bounds, ...answers];
}

function said(text: string, kind = 'di-what-if-note'): HTMLElement {
  return element('p', { class: kind }, ...inline(text));
}

/** Times on one scale, a line each: the run, its bounds, then what would change it. */
export class WhatIfView implements PanelView {
  readonly plain = true;
  readonly below = element('div', { class: 'di-what-if' });
  /** Of each cluster, the one with most work first. */
  private found: readonly WhatIf[] = [];
  private known = '';
  /** Buttons, with the task names that each chooses. */
  private choosers: [HTMLButtonElement, readonly string[]][] = [];

  constructor(private readonly context: PanelContext) {}

  empty(): string | undefined {
    const coming = 'How much faster it could be is simulated as soon as no task is running.';
    return notExplained(this.context, 'what_if', coming);
  }

  height(): number {
    return 0;
  }

  draw(): void {}

  layout(): void {
    const { recording, selection, surface } = this.context;
    const known = `${recording.state('what_if')} ${recording.hasEnded} ${surface.look}`;
    if (known !== this.known) {
      this.known = known;
      this.found = whatIfsOf(recording);
      keepFocus(this.below, () => this.build());
    }
    const own = (selection.own(SOURCE, 'name') ?? []).join('\n');
    for (const [button, names] of this.choosers) {
      setPressed(button, own !== '' && own === names.join('\n'));
    }
  }

  rows(): TableRows {
    const list = this.found.flatMap(found => timesOf(found).map(each => ({ ...each, found })));
    const isOne = this.found.length < 2;
    const name = ({ question, text, found }: (typeof list)[number]): string =>
      (isOne ? '' : `${found.cluster || 'cluster'}: `) +
      (BOUND_WORDS.get(question)?.[0] ?? text).replaceAll('`', '');
    const tookOf = ({ recorded }: WhatIf): number => recorded?.seconds ?? Number.NaN;
    return tableOf(list, [
      { ...text('What', name), prose: true },
      { ...number('Takes', ({ seconds }) => seconds, duration), words: timeWords },
      {
        ...number('Change', ({ seconds, found }) => seconds / tookOf(found) - 1, share),
        words: each => changeWords(each, tookOf(each.found))
      },
      number(
        'Simulation off by',
        ({ error }) => error,
        error => share(Math.abs(error))
      ),
      text('Notes', ({ notes }) => notes.join(' '))
    ]);
  }

  private build(): void {
    this.choosers = [];
    const most = Math.max(
      ...this.found.flatMap(timesOf).flatMap(({ seconds, high }) => [seconds, high || 0])
    );
    const live = this.found.some(({ isEdition }) => isEdition);
    const isOpen = !this.context.recording.hasEnded;
    this.below.replaceChildren(
      ...this.found.flatMap(found => this.block(found, most)),
      ...(live && isOpen ? [said('Worked out anew whenever no task is running.')] : [])
    );
  }

  /** What is told of one cluster; its sentence on the run names it where there are several. */
  private block(found: WhatIf, most: number): HTMLElement[] {
    const { recorded, bounds, calibration, answers, notes, gaps } = found;
    const took = recorded?.seconds ?? 0;
    const list = (rows: readonly Possible[], label: string): HTMLElement => {
      const lines = rows.map(each => this.line(each, took, most));
      const made = element('ol', { class: 'di-what-if-list', 'aria-label': label }, ...lines);
      if (took > 0) made.style.setProperty('--di-took', `${(100 * took) / most}%`);
      return made;
    };
    return [
      ...(recorded ? [said(recorded.text, 'di-what-if-said'), list([recorded, ...bounds], 'Bounds')] : []),
      ...(calibration ? [said(`On a simulated cluster. ${calibration.text}`)] : []),
      ...(answers.length > 0 ? [list(answers, 'What would change it, the fastest first')] : []),
      ...[...notes, ...gaps].map(text => said(text))
    ];
  }

  private line(each: Possible, took: number, most: number): HTMLElement {
    const { question, text, tasks, seconds, low, high, notes } = each;
    const bound = BOUND_WORDS.get(question);
    const [name, meaning] = bound ?? [text, ''];
    const label: (Node | string)[] = inline(name);
    const made = bound ? boundWords(each) : '';
    if (made) label.push(' ', element('span', { class: 'di-what-if-of' }, ...inline(made)));
    const isFaster = question === 'faster' && tasks.length > 0;
    if (isFaster) label.unshift(this.swatch(tasks[0]));
    const bar = element('div', { class: 'di-what-if-bar', 'aria-hidden': 'true' });
    const part = (from: number, to: number, kind: string): void => {
      if (!(to > from)) return;
      const piece = element('span', { class: kind });
      piece.style.width = `${(100 * (to - from)) / most}%`;
      bar.append(piece);
    };
    part(0, high > low ? low : seconds, 'di-sure');
    part(low, high, 'di-unsure');
    const change = bound ? '' : changeWords(each, took);
    const kind = bound ? (question === 'recorded' ? 'di-took' : 'di-bound') : '';
    const slower = !bound && seconds > 1.02 * took ? ' di-slower' : '';
    return element(
      'li',
      { class: `di-what-if-line ${kind}${slower}`, title: text },
      tasks.length > 0 ? this.chooser(tasks, label) : element('span', { class: 'di-what-if-name' }, ...label),
      bar,
      element('span', { class: 'di-what-if-time' }, timeWords(each)),
      element('span', { class: 'di-what-if-change' }, change),
      ...[meaning, ...notes]
        .filter(Boolean)
        .map(words => element('span', { class: 'di-what-if-more' }, ...inline(words)))
    );
  }

  private swatch(name: string): HTMLElement {
    const { colors, surface } = this.context;
    return swatch(nameColor(name, colors, surface.theme));
  }

  /** Chooses what a line is about; again takes it back. */
  private chooser(names: readonly string[], label: readonly (Node | string)[]): HTMLButtonElement {
    const { selection } = this.context;
    const choose = (): void => selection.choose(SOURCE, 'name', names, false);
    const made = clickable({ class: 'di-what-if-name' }, choose, ...label);
    this.choosers.push([made, names]);
    return made;
  }
}
