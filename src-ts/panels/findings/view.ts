import { timeOfBudget } from '../../core/budget-ahead';
import { clausesOf, type Finding, type Findings, findingsOf, SEVERITIES } from '../../core/findings';
import { duration, plural } from '../../core/format';
import type { Clause, TimeRange } from '../../core/selection';
import { activeTime } from '../../core/time-budget';
import { button, element } from '../element';
import { noTasks, notWorkedOut } from '../no-tasks';
import type { PanelContext, PanelView, TableRows } from '../panel';
import { nameColor } from '../task-stream/colors';
import { number, tableOf, text } from '../things';
import { FindingRow, type RowContext } from './row';
import { costWords } from './words';

const SOURCE = 'findings';

/** Rows shown before a person asks for all. */
const MOST = 5;

/** A ranked list; what is chosen in it narrows every other panel. */
export class FindingsView implements PanelView {
  readonly plain = true;
  readonly prompt = true;
  readonly below = element('div', { class: 'di-findings' });
  private readonly list = element('ol', { class: 'di-finding-list' });
  private readonly gaps = element('p', { class: 'di-finding-gaps', hidden: true });
  private readonly none = element('p', { class: 'di-finding-none', hidden: true });
  private readonly more: HTMLButtonElement;
  private items: FindingRow[] = [];
  private found: Findings | undefined;
  private known = '';
  /** What each finding narrows. */
  private narrowed = new Map<Finding, readonly Clause[]>();
  private all = false;
  /** The finding that was chosen last and what it narrowed then: in another edition it may be more. */
  private chosen = { key: '', clauses: '' };

  constructor(private readonly context: PanelContext) {
    this.more = button('', () => {
      this.all = true;
      this.show();
      this.items[MOST].focus();
    });
    this.below.append(this.none, this.list, this.more, this.gaps);
  }

  empty(): string | undefined {
    const { recording, tasks } = this.context;
    const found = findingsOf(recording);
    if (found && (found.list.length > 0 || tasks.count > 0)) return undefined;
    if (tasks.count === 0) return noTasks(recording);
    if (!recording.hasEnded) return 'Findings are being worked out.';
    return notWorkedOut('What costs time');
  }

  height(): number {
    return 0;
  }

  draw(): void {}

  layout(): void {
    const { recording, tasks, surface } = this.context;
    const known = `${recording.state('findings', 'workers')} ${recording.hasEnded} ${surface.look}`;
    if (known !== this.known) {
      this.known = known;
      this.found = findingsOf(recording) ?? { list: [], gaps: [] };
      this.build(this.found);
    }
    const nothing = this.found?.list.length === 0 && tasks.count > 0;
    this.none.hidden = !nothing;
    this.mark();
  }

  rows(): TableRows {
    const run = this.run();
    return tableOf(this.found?.list ?? [], [
      { ...text('Finding', ({ title }) => title.replaceAll('`', '')), prose: true },
      {
        title: 'Severity',
        value: ({ severity }) => SEVERITIES.indexOf(severity),
        words: ({ severity }) => severity
      },
      text('Code', ({ code }) => code),
      { ...number('Costs', ({ seconds }) => seconds, duration), words: each => costWords(each, run) },
      number('Thread time', ({ threadSeconds }) => threadSeconds, duration),
      text('Tasks', ({ tasks }) => tasks.join(', ')),
      text('Workers', ({ workers }) => workers.join(', ')),
      text('Page', ({ url }) => url)
    ]);
  }

  /**
   * Makes those rows anew that say something else now: text that is marked in others stays so. What was open stays
   * open, and what had the focus keeps it.
   */
  private build({ list, gaps }: Findings): void {
    const open = new Set(this.items.filter(row => row.isOpen).map(row => row.key));
    const focused = this.items.find(row => row.focused >= 0);
    const place = focused?.focused;
    const context = this.rowContext();
    const before = new Map(this.items.map(row => [row.state, row]));
    this.narrowed.clear();
    this.items = list.map(finding => {
      const names = finding.workers.map(context.workerName);
      const state = JSON.stringify([
        { ...finding, edition: 0 },
        context.run,
        context.origin,
        names,
        this.context.surface.look
      ]);
      const row = before.get(state) ?? new FindingRow(finding, state, context);
      before.delete(state);
      return row;
    });
    for (const row of this.items) if (open.has(row.key)) row.open(true);
    this.none.textContent = 'Nothing found that costs 0.5 s and 2 % of the run, or puts it at risk.';
    this.gaps.hidden = gaps.length === 0;
    this.gaps.textContent = `Not looked at: ${gaps.map(({ rule, why }) => (why ? `${rule} (${why})` : rule)).join(', ')}.`;
    this.show();
    const now = this.items.find(row => row.key === focused?.key);
    if (now && now.focused < 0) now.focus(place);
  }

  private show(): void {
    const { list, items } = this;
    const shown = this.all || items.length <= MOST + 1 ? items.length : MOST;
    const elements = items.map(row => row.element);
    for (const each of [...list.children]) if (!elements.includes(each as HTMLLIElement)) each.remove();
    elements.forEach((each, at) => {
      // To put a row where it is takes its focus, and text that is marked in it.
      if (list.children[at] !== each) list.insertBefore(each, list.children[at] ?? null);
      // Paper has all of them.
      each.classList.toggle('di-past', at >= shown);
    });
    this.more.hidden = shown === items.length;
    this.more.textContent = `Show ${plural(items.length - shown, 'more finding')}`;
    list.hidden = items.length === 0;
    list.setAttribute('aria-label', `${plural(items.length, 'finding')}, what matters most first`);
  }

  private mark(): void {
    for (const row of this.items) row.mark(this.isChosen(row));
  }

  private isChosen({ key, finding }: FindingRow): boolean {
    const { own, chosen } = this;
    if (own === chosen.clauses) return key === chosen.key;
    return own !== '[]' && own === JSON.stringify(this.clauses(finding));
  }

  /** What the findings narrow now. */
  private get own(): string {
    return JSON.stringify(this.context.selection.clauses.filter(({ source }) => source === SOURCE));
  }

  private clauses(finding: Finding): readonly Clause[] {
    let clauses = this.narrowed.get(finding);
    if (!clauses) {
      const { recording, tasks } = this.context;
      const workers = new Set(recording.table('workers').symbols('worker').names);
      clauses = clausesOf(finding, SOURCE, tasks, workers, this.time());
      this.narrowed.set(finding, clauses);
    }
    return clauses;
  }

  private run(): number {
    const { start, stop } = this.time();
    return stop - start;
  }

  /** The time that the findings are about: that of the budget, which is known sooner than that of attempts. */
  private time(): TimeRange {
    return timeOfBudget(this.context.recording) ?? activeTime(this.context.tasks);
  }

  private rowContext(): RowContext {
    const { colors, tasks, recording, surface } = this.context;
    return {
      run: this.run(),
      origin: recording.origin,
      color: name => nameColor(name, colors, surface.theme),
      workerName: worker => tasks.workerName(worker),
      choose: row => this.select(row),
      narrow: (finding, column, value) => this.narrow(finding, column, value)
    };
  }

  /** All that it concerns, as one step; again takes it back. A finding that is chosen is open. */
  private select(row: FindingRow): void {
    const { selection, say } = this.context;
    const { key, finding } = row;
    const clauses = this.clauses(finding);
    const isChosen = this.isChosen(row);
    if (clauses.length === 0 && !isChosen) {
      row.open(!row.isOpen);
      return;
    }
    row.open(!isChosen);
    if (!isChosen) this.chosen = { key, clauses: JSON.stringify(clauses) };
    selection.put(SOURCE, isChosen ? [] : clauses);
    say(
      isChosen
        ? 'Nothing of the findings is chosen.'
        : `Chosen: what concerns ${finding.title.replaceAll('`', '')}`
    );
  }

  /** One thing of it alone; again takes it back. */
  private narrow(finding: Finding, column: 'name' | 'worker' | 'time', value: string): void {
    const { selection } = this.context;
    const { start, stop } = finding;
    const clause: Clause =
      column === 'time'
        ? { source: SOURCE, column, value: { start, stop } }
        : { source: SOURCE, column, value: [value] };
    selection.put(SOURCE, this.own === JSON.stringify([clause]) ? [] : [clause]);
  }
}
