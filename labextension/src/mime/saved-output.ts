import { dataBlocks, SavedReport } from '@dask-insight/panels/hosts/saved-report';
import { element } from '@dask-insight/panels/panels/element';
import { inline } from '@dask-insight/panels/panels/findings/prose';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { MIME, type Summary, summaryOf } from './summary';

/** The output of a cell: the words at once, the panels when the cell comes into view. */
export class SavedOutput extends Widget implements IRenderMime.IRenderer {
  private report: SavedReport | undefined;
  private seen: IntersectionObserver | undefined;

  constructor() {
    super();
    this.addClass('di-saved-output');
    // Keys that the panels know are not JupyterLab's to take.
    this.node.dataset.lmSuppressShortcuts = 'true';
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.clear();
    const summary = summaryOf(model.data[MIME]);
    const html = model.data['text/html'];
    const blocks = dataBlocks(Array.isArray(html) ? html.join('') : String(html ?? ''));
    this.node.append(words(summary));
    if (blocks.length === 0) {
      const missing = 'The data of this report are no longer in the notebook: run the cell again.';
      this.node.append(element('p', { class: 'di-saved-missing' }, missing));
      return;
    }
    const place = element('div', { class: 'di-saved-place' });
    this.node.append(place);
    this.seen = new IntersectionObserver(
      entries => {
        if (!entries.some(entry => entry.isIntersecting)) return;
        this.seen?.disconnect();
        this.report = new SavedReport(place);
        void this.report.open(blocks);
      },
      { rootMargin: '300px', scrollMargin: '300px' }
    );
    this.seen.observe(place);
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.clear();
    super.dispose();
  }

  private clear(): void {
    this.seen?.disconnect();
    this.report?.dispose();
    this.report = undefined;
    this.node.replaceChildren();
  }
}

function words({ name, verdict, table, notes }: Summary): HTMLElement {
  const made = element('div', { class: 'di-saved-words' });
  made.append(
    element('h3', { dir: 'auto' }, name),
    element('p', { class: 'di-saved-verdict', dir: 'auto' }, ...inline(verdict))
  );
  if (table.length > 0) {
    const head = element(
      'tr',
      {},
      ...['Where the time went', 'thread time', 'share'].map(title => element('th', { scope: 'col' }, title))
    );
    const rows = table.map(row =>
      element('tr', {}, ...row.map(cell => element('td', { dir: 'auto' }, cell)))
    );
    made.append(element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
  }
  made.append(...notes.map(note => element('p', { class: 'di-saved-notes', dir: 'auto' }, ...inline(note))));
  return made;
}
