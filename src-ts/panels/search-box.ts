import { element } from './element';

/** What a person looks for in a table: Escape empties it first. `look` is called whenever it changes. */
export function searchBox(placeholder: string, label: string, look: () => void): HTMLInputElement {
  const box = element('input', {
    type: 'search',
    class: 'di-search',
    placeholder,
    'aria-label': label,
    spellcheck: 'false'
  });
  box.addEventListener('input', look);
  box.addEventListener('keydown', event => {
    if (event.key !== 'Escape' || box.value === '') return;
    box.value = '';
    look();
    event.preventDefault();
    event.stopPropagation();
  });
  return box;
}

/** Its words as a search compares them. */
export function lookedFor({ value }: HTMLInputElement): string {
  return value.trim().toLowerCase();
}
