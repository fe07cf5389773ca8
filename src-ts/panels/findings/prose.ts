import { copyButton } from '../copy-button';
import { element } from '../element';

/** Plain text as paragraphs; `backticks` mark code within a line, four spaces before every line mark a block. */
export function prose(text: string): HTMLElement[] {
  return text
    .split(/\n[ \t]*\n/)
    .filter(part => part.trim() !== '')
    .map(part => (isCode(part) ? codeBlock(part) : element('p', {}, ...inline(part))));
}

function isCode(part: string): boolean {
  return part.split('\n').every(line => line.trim() === '' || line.startsWith('    '));
}

function codeBlock(part: string): HTMLElement {
  const code = part
    .split('\n')
    .map(line => line.slice(4))
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
  const copy = copyButton('Copy code', () => code);
  const block = element(
    'pre',
    { tabindex: 0, role: 'region', 'aria-label': 'Code' },
    element('code', {}, code)
  );
  return element('div', { class: 'di-code' }, block, copy);
}

/** One line; `backticks` mark code. */
export function inline(part: string): Node[] {
  return part
    .trim()
    .split('`')
    .map((text, at, all) =>
      // A backtick that nothing closes is a backtick.
      at % 2 === 1 && at < all.length - 1
        ? element('code', { dir: 'auto' }, text)
        : document.createTextNode(at % 2 === 1 ? `\`${text}` : text)
    );
}
