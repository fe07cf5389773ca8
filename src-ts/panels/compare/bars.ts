import type { Comparison, SidePart } from '../../core/comparison';
import { duration, share, signed, THIN } from '../../core/format';
import { type ColorRegistry, css } from '../../draw/palette';
import type { Theme } from '../../draw/theme';
import { element, swatch } from '../element';
import { partColor } from '../time-budget/colors';
import { partWords } from '../time-budget/words';
import { sideFacts, sideName } from './words';

const KINDS = ['computing', 'overhead', 'idle'];

/** A part that takes less of the longest bar is in it without being named. */
const LEAST = 0.003;

/** Parts of the budget in the order in which bars and table show them. */
export function partsOf(budget: readonly SidePart[]): string[] {
  const kinds = new Map(budget.map(({ part, kind }) => [part, kind]));
  const order = (part: string): number => KINDS.indexOf(kinds.get(part) ?? 'idle');
  return [...kinds.keys()].sort((a, b) => order(a) - order(b));
}

export function colorOfPart(part: string, colors: ColorRegistry, theme: Theme): string {
  return css(partColor(part, '', colors, theme));
}

/**
 * A bar a side, as long as its wall time and divided by its time budget; dots are its runs.
 * All bars begin at the same place and have one scale.
 */
export function sideBars(
  { sides, runs, budget }: Comparison,
  colors: ColorRegistry,
  theme: Theme
): HTMLElement {
  const longest = Math.max(...sides.map(({ seconds }) => seconds), ...runs.map(({ seconds }) => seconds));
  const percent = (seconds: number): string => `${(100 * seconds) / longest}%`;
  const parts = partsOf(budget);
  // What no bar shows by a pixel needs no explanation.
  const visible = parts.filter(part =>
    budget.some(each => each.part === part && each.wall > LEAST * longest)
  );
  const rows = sides.map(side => {
    const bar = element('div', { class: 'di-side-bar' });
    for (const part of parts) {
      const found = budget.find(each => each.side === side.side && each.part === part);
      if (!found || !(found.wall > 0)) continue;
      const words = partWords(part, '', false).words;
      const title = `${words}: ${duration(found.wall)} of the wall time (${share(found.share)})`;
      const segment = element('span', { class: 'di-side-part', title });
      segment.style.width = percent(found.wall);
      segment.style.backgroundColor = colorOfPart(part, colors, theme);
      bar.append(segment);
    }
    const own = runs.filter(run => run.side === side.side);
    for (const run of own.length > 1 ? own : []) {
      const dot = element('span', { class: 'di-side-run', title: `${run.name}: ${duration(run.seconds)}` });
      dot.style.left = percent(run.seconds);
      bar.append(dot);
    }
    const change = side.side === 0 ? '' : `${signed(side.change)} `;
    const noise = Number.isFinite(side.noise) ? `±${THIN}${duration(side.noise)}` : '';
    return element(
      'div',
      { class: 'di-side', role: 'listitem' },
      element(
        'div',
        { class: 'di-side-name' },
        element('bdi', { title: side.name }, sideName(side)),
        element('span', { class: 'di-muted' }, sideFacts(side))
      ),
      bar,
      element(
        'div',
        { class: 'di-side-time' },
        element('span', {}, duration(side.seconds)),
        element(
          'span',
          { class: `di-muted di-${side.verdict}` },
          side.side === 0 ? '' : `${change}(${side.verdict === 'same' ? 'noise ' : ''}${noise})`
        )
      )
    );
  });
  const list = { class: 'di-sides', role: 'list', 'aria-label': 'Wall time and time budget by side' };
  return element(
    'div',
    {},
    element('div', list, ...rows),
    legend(visible, runs.length > sides.length, colors, theme)
  );
}

function legend(parts: readonly string[], dots: boolean, colors: ColorRegistry, theme: Theme): HTMLElement {
  const item = (sign: HTMLElement, words: string): HTMLElement =>
    element('li', { class: 'di-legend-item' }, sign, words);
  const items = parts.map(part =>
    item(swatch(colorOfPart(part, colors, theme)), partWords(part, '', false).words)
  );
  if (dots) items.push(item(swatch('', 'di-dot'), 'one run'));
  return element('ul', { class: 'di-legend-list di-compare-parts' }, ...items);
}
