import { copyText } from '@dask-insight/panels/draw/tooltip';
import { button, element, setWords } from '@dask-insight/panels/panels/element';
import type { Situation } from './situation';

/** Speaks for all notices: every panel of a notebook and the sidebar say the same at once. */
const voice = element('div', { class: 'di-unseen', 'aria-live': 'polite' });

/** Says how it stands and what to do, with the code to copy; empty if all is well. */
export class Notice {
  readonly element = element('div', { class: 'di-page di-notice', hidden: true });
  private shown = '';

  constructor() {
    // Only what changes in a place that is there already is read out.
    if (!voice.isConnected) document.body.append(voice);
  }

  show({ kind, words, code }: Situation): void {
    const key = [kind, words, code].join('\n');
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = kind === 'well';
    this.element.dataset.kind = kind;
    // What is out of sight says nothing, and progress in percent is not read out.
    const isHeard = this.element.getClientRects().length > 0 && kind !== 'waiting';
    if (isHeard || kind === 'well') {
      setWords(voice, kind === 'well' ? '' : [words, code].filter(Boolean).join(' '));
    }
    this.element.replaceChildren(element('p', {}, words), ...(code ? [codeOf(code)] : []));
  }
}

function codeOf(code: string): HTMLElement {
  const copy = button('Copy', () => {
    void copyText(code, copy).then(done => {
      if (done) copy.textContent = 'Copied';
    });
  });
  return element('div', { class: 'di-code' }, element('code', {}, code), copy);
}
