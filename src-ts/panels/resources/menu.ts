import { element } from '../element';
import { menuUnder } from '../menu';
import type { ResourceFigures } from './figures';

/** A list of measures to tick; those without data say why. */
export function measureMenu(figures: ResourceFigures, shown: Set<string>, changed: () => void): HTMLElement {
  const summary = element('summary', { class: 'di-choice' }, 'Measures');
  const box = element('div', { class: 'di-menu' });
  const fill = (): void => {
    box.replaceChildren(
      ...figures.expected.map(measure => {
        const there = figures.has(measure);
        const tick = element('input', {
          type: 'checkbox',
          checked: there && shown.has(measure.id),
          disabled: !there
        });
        tick.addEventListener('change', () => {
          if (tick.checked) shown.add(measure.id);
          else shown.delete(measure.id);
          changed();
        });
        const note = there ? '' : `: ${measure.missing}`;
        return element('label', { class: there ? 'di-tick' : 'di-tick di-off' }, tick, measure.title + note);
      })
    );
  };
  return menuUnder(summary, box, fill);
}
