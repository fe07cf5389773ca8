import type { Stop } from '../../core/recording';
import { button, choice, element, setIdle } from '../../panels/element';
import { inline } from '../../panels/findings/prose';
import { icon } from '../../panels/icons';
import { PANELS } from '../../panels/index';
import { type Control, cellPicker, liveControls } from '../live-controls';
import { listen, type Model } from './model';
import { NO_ANSWER, type Shared } from './shared';
import { progressWords, statusWords } from './words';

/** Value of the choice that stands for the overview. */
const OVERVIEW = '';

/** The panel that says in words of its own what came out. */
const COMPARE = 'compare';

const REPORT = ' A report needs none: end a cell with the recording itself.';

/** The first line: what this is, how far it is, which panel, and a few controls. Returns the stop. */
export function fillHead(head: HTMLElement, model: Model, shared: Shared): Stop {
  const { page } = shared;
  const words = element('span', { class: 'di-widget-words', role: 'status' });
  const picker = choice(
    'Panel to show',
    [[OVERVIEW, 'Overview'], ...PANELS.map(({ id, title }) => [id, title] as const)],
    id => {
      model.set('panel', id === OVERVIEW ? null : id);
      model.save_changes();
    }
  );
  const place = element('span');
  const fit = button('Show the whole time (0)', () => page.viewport.fit(), icon('fit'));
  head.append(element('strong', { dir: 'auto' }, model.get('_title')), words, picker, place, fit);

  let controls: Control | undefined;
  let shown = '';
  const tell = (): void => {
    const { status, state } = shared;
    const verdict = model.get('_verdict');
    // Compare begins with its own verdict.
    const ended = model.get('panel') === COMPARE ? '' : verdict;
    const well = model.get('_live') ? progressWords(state, page.recording) : ended;
    const waits = status.phase === 'waiting' && verdict;
    const report = status.words === NO_ANSWER ? REPORT : '';
    const told = waits ? `${verdict} ${status.words}${report}` : statusWords(status, well);
    // How far a run is changes all the time: it is not read out.
    words.ariaLive = model.get('_live') && told === well ? 'off' : 'polite';
    const lost = page.damages.slice(-1).map(words => `unread: ${words}`);
    const said = [told, ...lost].filter(Boolean).join(' · ');
    if (said !== shown) words.replaceChildren(...inline(said));
    shown = said;
    head.dataset.phase = status.phase;
    setIdle(fit, page.viewport.fitted);
  };
  const control = (): void => {
    const live = model.get('_live');
    // Nobody could resume what has ended.
    if (!live) page.paused = false;
    const hadFocus = place.contains((place.getRootNode() as Document | ShadowRoot).activeElement);
    controls?.dispose();
    controls = live ? liveControls(page) : cellPicker(page, 2);
    place.append(controls.element);
    if (hadFocus) picker.focus();
    tell();
  };
  const pick = (): void => {
    picker.value = model.get('panel') ?? OVERVIEW;
    tell();
  };
  pick();
  control();
  const stops = [
    listen(model, 'change:panel', pick),
    listen(model, 'change:_live', control),
    shared.onChange(tell),
    page.onChange(tell),
    page.viewport.subscribe(tell)
  ];
  return () => {
    for (const stop of stops) stop();
    controls?.dispose();
  };
}
