import type { Finding } from '../../core/findings';
import { nameOrNone, plural, shortened } from '../../core/format';
import { focusIn } from '../../draw/focus';
import { button, clickable, element, setPressed, swatch } from '../element';
import { icon } from '../icons';
import { severityMark } from './mark';
import { inline, prose } from './prose';
import { costSentence, costWords, evidenceWords, whenWords } from './words';

/** What a row needs to know of the run, and whom it tells what a person does. */
export interface RowContext {
  /** Seconds that the run took; 0 if not known. */
  readonly run: number;
  readonly origin: number;
  color(name: string): string;
  workerName(worker: string): string;
  /** Chooses or takes back all that the finding concerns. */
  choose(row: FindingRow): void;
  /** Chooses or takes back one task name, one worker, or its time. */
  narrow(finding: Finding, column: 'name' | 'worker' | 'time', value: string): void;
}

/** So many workers of a finding can be chosen one by one; the finding chooses them all. */
const MOST_WORKERS = 10;

let count = 0;

/** A finding: one line, and under it the rest once it is opened. */
export class FindingRow {
  readonly element: HTMLLIElement;
  private readonly title: HTMLButtonElement;
  private readonly opener: HTMLButtonElement;
  private readonly rest: HTMLElement;
  private filled = false;

  /** `state` is another where anything that the row shows is. */
  constructor(
    readonly finding: Finding,
    readonly state: string,
    private readonly context: RowContext
  ) {
    const { severity, title } = finding;
    const id = `di-finding-${++count}`;
    this.rest = element('div', { class: 'di-finding-rest', id, hidden: true });
    const plain = title.replaceAll('`', '');
    this.opener = button(`Details: ${plain}`, () => this.open(!this.isOpen), icon('open'));
    this.opener.setAttribute('aria-expanded', 'false');
    this.opener.setAttribute('aria-controls', id);
    this.opener.title = 'Details';
    const cost = costWords(finding, context.run);
    this.title = clickable(
      { class: 'di-finding-title', 'aria-pressed': 'false' },
      () => context.choose(this),
      severityMark(severity),
      element('span', { class: 'di-finding-severity' }, severity),
      element('span', { class: 'di-finding-words', title: plain }, ...inline(shortened(title, 400))),
      costBar(cost && context.run > 0 ? finding.seconds / context.run : 0),
      element('span', { class: 'di-finding-cost' }, cost)
    );
    const line = element('div', { class: 'di-finding-line' }, this.opener, this.title);
    this.element = element('li', { class: `di-finding di-${severity}` }, line, this.rest);
  }

  /** The same finding has the same key in every edition, to which further workers may come. */
  get key(): string {
    const { code, tasks, workers } = this.finding;
    return JSON.stringify([code, tasks, workers[0]]);
  }

  get isOpen(): boolean {
    return !this.rest.hidden;
  }

  /** Which of what can have the focus has it; -1 if it is elsewhere. */
  get focused(): number {
    return this.stops.indexOf(focusIn(this.element) as HTMLElement);
  }

  open(open: boolean): void {
    if (open && !this.filled) this.fill();
    this.rest.hidden = !open;
    this.opener.setAttribute('aria-expanded', String(open));
  }

  mark(chosen: boolean): void {
    setPressed(this.title, chosen);
    this.element.classList.toggle('di-chosen', chosen);
  }

  /** Puts the focus where it was in another row of the same finding, or on the title. */
  focus(at = -1): void {
    (this.stops[at] ?? this.title).focus({ preventScroll: true });
  }

  private get stops(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>('button, pre, a')];
  }

  private fill(): void {
    this.filled = true;
    const { finding, context } = this;
    const cost = costSentence(finding, context.run);
    const facts = finding.evidence.map(fact =>
      element('div', {}, element('dt', {}, fact.name), element('dd', {}, evidenceWords(fact)))
    );
    const chips = this.chips();
    this.rest.append(...prose(finding.why));
    if (cost) this.rest.append(element('p', { class: 'di-finding-price' }, cost));
    if (facts.length > 0) this.rest.append(element('dl', { class: 'di-evidence' }, ...facts));
    if (chips.length > 0) this.rest.append(element('div', { class: 'di-finding-chips' }, ...chips));
    if (finding.advice.trim() !== '') {
      this.rest.append(element('h3', {}, 'What to do'), ...prose(finding.advice));
    }
    if (finding.url) this.rest.append(element('p', {}, link(finding.url)));
    this.rest.append(element('p', { class: 'di-finding-code' }, `Code: ${finding.code}`));
  }

  private chips(): HTMLElement[] {
    const { finding, context } = this;
    const chips = finding.tasks.map(name =>
      chip(nameOrNone(name), `Choose the tasks ${name}`, swatch(context.color(name)), () =>
        context.narrow(finding, 'name', name)
      )
    );
    const { workers } = finding;
    for (const worker of workers.slice(0, MOST_WORKERS)) {
      const words = `worker ${context.workerName(worker)}`;
      chips.push(chip(words, `Choose ${words}`, undefined, () => context.narrow(finding, 'worker', worker)));
    }
    const more = workers.length - MOST_WORKERS;
    if (more > 0) chips.push(element('span', {}, `and ${plural(more, 'other')}`));
    const when = whenWords(finding, context.run, context.origin);
    if (when)
      chips.push(chip(when, `Choose the time ${when}`, undefined, () => context.narrow(finding, 'time', '')));
    return chips;
  }
}

/** A share of the run; the bars of all findings have one scale, of which the whole is the run. */
function costBar(of: number): HTMLElement {
  const bar = element('span', { class: 'di-finding-bar', 'aria-hidden': 'true' });
  if (of > 0) {
    const part = element('span');
    part.style.width = `${Math.min(100, 100 * of)}%`;
    bar.append(part);
  }
  return bar;
}

function chip(words: string, name: string, sign: HTMLElement | undefined, press: () => void): HTMLElement {
  const text = element('span', { dir: 'auto' }, shortened(words, 48));
  return clickable(
    { class: 'di-chip', 'aria-label': name, title: words },
    press,
    ...(sign ? [sign, text] : [text])
  );
}

/** Says where it leads: `docs.dask.org/en/stable/…`. */
function link(url: string): HTMLElement {
  const words = url.replace(/^https?:\/\//i, '').replace(/\/$/, '');
  return element('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, words);
}
