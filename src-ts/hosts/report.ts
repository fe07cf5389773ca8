import { dateTime } from '../core/format';
import { Pace } from '../core/load';
import { Recording } from '../core/recording';
import { element } from '../panels/element';
import { panelsFor } from '../panels/index';
import { createStage } from '../panels/stage';
import { readBlocks } from './blocks';
import { page } from './page';
import { painted } from './painted';
import { showRun } from './show-run';
import { unreadColumns } from './unread';

/**
 * Longest time in one go until the first picture, milliseconds: so long, nobody misses a page that answers,
 * and each pause costs a picture of a page without its charts.
 */
const FIRST_SLICE = 60;

/** Opens the report that this script stands in. */
async function open(): Promise<void> {
  tellMoments();
  const main = document.getElementById('page') as HTMLElement;
  const tools = document.getElementById('tools') as HTMLElement;
  // In the output of a notebook there is no page of its own.
  document.body.classList.add('di-page');
  const bar = element('progress', { max: 1, value: 0, 'aria-label': 'Opening' });
  const opening = element('p', { class: 'opening', role: 'status' }, 'Opening the recording …', bar);
  main.before(opening);
  const notice = element('p', { class: 'notice', role: 'status' });
  const unread = unreadColumns(words => {
    notice.textContent = words;
    main.before(notice);
  });
  const recording = new Recording(unread);
  let damaged = false;
  const read = async (part: 'first' | 'rest', from: number, to: number, pace: Pace): Promise<void> => {
    const all = document.querySelectorAll<HTMLElement>(`script.batches[data-part=${part}]`);
    // Of the last one that is there, more may come.
    const blocks = [...all].filter(block => block.nextSibling !== null || document.readyState !== 'loading');
    const progress = (share: number): void => {
      bar.value = from + share * (to - from);
    };
    const damages = await readBlocks(recording, blocks, progress, pace);
    for (const damage of damages) main.before(element('p', { class: 'notice' }, damage));
    damaged ||= damages.length > 0;
  };
  await read('first', 0, 0.5, new Pace(FIRST_SLICE));
  main.setAttribute('aria-busy', 'true');
  bar.className = 'going-on';
  opening.replaceWith(bar);
  const stage = createStage(recording);
  showRun(stage);
  const { complete } = page(main, tools, panelsFor(recording), stage);
  document.documentElement.dataset.shown = 'true';
  // The first picture does not wait for what comes after it.
  await painted();
  // The rest of the page stands after this script: what the first window waits for comes first, and may be there.
  await read('rest', 0.5, 0.6, new Pace());
  await parsed();
  await read('rest', 0.6, 1, new Pace());
  if (damaged) recording.cut();
  await complete;
  bar.remove();
  main.removeAttribute('aria-busy');
  document.documentElement.dataset.opened = 'true';
}

/** Says in the time zone of whoever reads, which the charts tell, what has been written in another. */
function tellMoments(): void {
  for (const each of document.querySelectorAll('time')) {
    each.textContent = dateTime(Date.parse(each.textContent.replace(' ', 'T')) / 1000);
  }
}

/** Until the whole page is there. */
function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise(resolve => {
    document.addEventListener('DOMContentLoaded', () => resolve(), { once: true });
  });
}

open().catch((error: unknown) => {
  const main = document.getElementById('page') as HTMLElement;
  const why = error instanceof Error ? error.message : String(error);
  main.replaceChildren(
    element('p', { class: 'notice', role: 'alert' }, `The charts cannot be shown in this browser: ${why}.`)
  );
});
