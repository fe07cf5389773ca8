import { copyText } from '@dask-insight/panels/draw/tooltip';
import { button, element } from '@dask-insight/panels/panels/element';
import type { Situation } from './situation';

/** Says how it stands and what to do, with the code to copy; empty if all is well. */
export class Notice {
  readonly element = element('div', { class: 'di-page di-notice', hidden: true });
  private shown = '';

  show({ kind, words, code }: Situation): void {
    const key = [kind, words, code].join('\n');
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = kind === 'well';
    this.element.dataset.kind = kind;
    // Progress in percent is not read out.
    this.element.setAttribute('aria-live', kind === 'waiting' ? 'off' : 'polite');
    this.element.replaceChildren(element('p', {}, words), ...(code ? [codeOf(code)] : []));
  }
}

function codeOf(code: string): HTMLElement {
  const copy = button('Copy', () => {
    void copyText(code).then(done => {
      if (done) copy.textContent = 'Copied';
    });
  });
  return element('div', { class: 'di-code' }, element('code', {}, code), copy);
}
