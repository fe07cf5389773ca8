import { element } from '../panels/element';
import { PANELS } from '../panels/index';
import { createStage } from '../panels/stage';
import { openBlocks } from './blocks';
import { page } from './page';

/** Opens the report that this script stands in. */
async function open(): Promise<void> {
  const main = document.getElementById('page') as HTMLElement;
  const tools = document.getElementById('tools') as HTMLElement;
  document.body.classList.add('di-page');
  const bar = element('progress', { max: 1, value: 0, 'aria-label': 'Opening' });
  const opening = element('p', { class: 'opening', role: 'status' }, 'Opening the recording …', bar);
  main.append(opening);
  const blocks = [...document.querySelectorAll<HTMLElement>('script.batches')];
  const { recording, damages } = await openBlocks(blocks, share => {
    bar.value = share;
  });
  opening.remove();
  for (const damage of damages) main.append(element('p', { class: 'notice' }, damage));
  page(main, tools, PANELS, createStage(recording));
  document.documentElement.dataset.opened = 'true';
}

open().catch((error: unknown) => {
  const main = document.getElementById('page') as HTMLElement;
  const why = error instanceof Error ? error.message : String(error);
  main.replaceChildren(
    element('p', { class: 'notice', role: 'alert' }, `The charts cannot be shown in this browser: ${why}.`)
  );
});
