import { copyText } from '../draw/tooltip';
import { button } from './element';
import { type IconName, icon } from './icons';

/** A button that copies, and says until it loses the focus whether it could. */
export function copyButton(name: string, text: () => string): HTMLButtonElement {
  const say = (words: string, sign: IconName): void => {
    made.title = words;
    made.setAttribute('aria-label', words);
    made.replaceChildren(icon(sign));
  };
  const copy = async (): Promise<void> => {
    const done = await copyText(text(), made);
    if (done) say('Copied', 'done');
    else say('Could not copy', 'close');
  };
  const made = button(name, () => void copy(), icon('copy'));
  made.addEventListener('blur', () => say(name, 'copy'));
  return made;
}
