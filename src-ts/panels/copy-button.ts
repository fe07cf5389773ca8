import { copyText } from '../draw/tooltip';
import { button, setSign } from './element';
import { type IconName, icon } from './icons';

/** A button that copies, and says until it loses the focus whether it could. */
export function copyButton(name: string, text: () => string): HTMLButtonElement {
  const say = (words: string, sign: IconName): void => setSign(made, words, icon(sign));
  const copy = async (): Promise<void> => {
    const done = await copyText(text(), made);
    if (done) say('Copied', 'done');
    else say('Could not copy', 'close');
  };
  const made = button(name, () => void copy(), icon('copy'));
  made.addEventListener('blur', () => say(name, 'copy'));
  return made;
}
