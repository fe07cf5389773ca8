import { Recording } from '../core/recording';
import { element } from '../panels/element';
import { PANELS } from '../panels/index';
import { createStage } from '../panels/stage';
import { readBlocks } from './blocks';
import { page } from './page';

/** Opens the report that this script stands in. */
async function open(): Promise<void> {
  const main = document.getElementById('page') as HTMLElement;
  const tools = document.getElementById('tools') as HTMLElement;
  document.body.classList.add('di-page');
  const bar = element('progress', { max: 1, value: 0, 'aria-label': 'Opening' });
  const opening = element('p', { class: 'opening', role: 'status' }, 'Opening the recording …', bar);
  main.before(opening);
  const blocks = [...document.querySelectorAll<HTMLElement>('script.batches')];
  const first = blocks.filter(({ dataset }) => dataset.part === 'first');
  const rest = blocks.filter(({ dataset }) => dataset.part !== 'first');
  const recording = new Recording();
  const read = async (part: readonly HTMLElement[], done: number): Promise<void> => {
    const progress = (share: number): void => {
      bar.value = (done + share * part.length) / blocks.length;
    };
    for (const damage of await readBlocks(recording, part, progress)) {
      main.before(element('p', { class: 'notice' }, damage));
    }
  };
  await read(first, 0);
  main.setAttribute('aria-busy', 'true');
  page(main, tools, PANELS, createStage(recording));
  document.documentElement.dataset.shown = 'true';
  await read(rest, first.length);
  opening.remove();
  main.removeAttribute('aria-busy');
  document.documentElement.dataset.opened = 'true';
}

open().catch((error: unknown) => {
  const main = document.getElementById('page') as HTMLElement;
  const why = error instanceof Error ? error.message : String(error);
  main.replaceChildren(
    element('p', { class: 'notice', role: 'alert' }, `The charts cannot be shown in this browser: ${why}.`)
  );
});
