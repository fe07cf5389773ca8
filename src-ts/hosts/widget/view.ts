import { button, choice, element } from '../../panels/element';
import { icon } from '../../panels/icons';
import { PANELS } from '../../panels/index';
import { type Control, cellPicker, liveControls } from '../live-controls';
import type { LivePanel } from '../live-page';
import { keepScheme } from '../scheme';
import type { Model } from './model';
import { Shared } from './shared';
import { keepStyled } from './styles';
import { progressWords, statusWords } from './words';

/** What the overview shows, from the top. */
const OVERVIEW = ['time-budget', 'task-stream', 'resources', 'memory'];

/** Value of the choice that stands for the overview. */
const ALL = '';

/** One line, and under it the overview or one panel. Returns the stop. */
export function view(model: Model, el: HTMLElement): () => void {
  // JupyterLab would take the keys of the charts for its own.
  const root = element('div', { class: 'di-widget di-page', 'data-lm-suppress-shortcuts': 'true' });
  const shared = Shared.join(model, root);
  const { page } = shared;
  const words = element('span', { class: 'di-widget-words', role: 'status' });
  const title = element('strong', { dir: 'auto' }, model.get('_title'));
  const picker = choice(
    'Panel to show',
    [[ALL, 'Overview'], ...PANELS.map(({ id, title: name }) => [id, name] as const)],
    model.get('panel') ?? ALL,
    id => {
      model.set('panel', id === ALL ? null : id);
      model.save_changes();
      show();
    }
  );
  const place = element('span', { class: 'di-widget-controls' });
  const fit = button('Show the whole time (0)', () => page.viewport.fit(), icon('fit'));
  const head = element('div', { class: 'di-widget-head' }, title, words, picker, place, fit);
  const body = element('div', { class: 'di-widget-body' });
  root.append(head, body);
  el.append(root);
  const stopSchemes = [root, head].map(keepScheme);
  keepStyled(root, model.get('_css'));

  let panels: LivePanel[] = [];
  let shown: string | undefined;
  const show = (): void => {
    const wanted = model.get('panel') ?? ALL;
    if (wanted === shown) return;
    shown = wanted;
    picker.value = wanted;
    for (const panel of panels) panel.dispose();
    body.replaceChildren();
    const ids = wanted === ALL ? OVERVIEW : [wanted];
    panels = ids.map(id => {
      const host = element('div', { class: 'di-widget-panel' });
      body.append(host);
      return page.mount(id, host, { titled: wanted === ALL });
    });
  };
  const tell = (): void => {
    const { status, state } = shared;
    const live = model.get('_live');
    words.textContent = statusWords(
      status,
      live ? progressWords(state, page.recording) : model.get('_verdict')
    );
    root.dataset.phase = status.phase;
    fit.disabled = page.viewport.fitted;
  };
  let controls: Control | undefined;
  const control = (): void => {
    controls?.dispose();
    controls = model.get('_live') ? liveControls(page) : cellPicker(page);
    place.append(controls.element);
    tell();
  };
  show();
  control();

  const seen = new IntersectionObserver(entries => {
    shared.setVisible(root, entries[entries.length - 1]?.isIntersecting === true);
  });
  seen.observe(root);
  model.on('change:panel', show);
  model.on('change:_live', control);
  const stops = [
    shared.onChange(tell),
    page.viewport.subscribe(tell),
    () => seen.disconnect(),
    () => model.off('change:panel', show),
    () => model.off('change:_live', control)
  ];
  return () => {
    for (const stop of stops) stop();
    for (const panel of panels) panel.dispose();
    controls?.dispose();
    for (const stop of stopSchemes) stop();
    root.remove();
    shared.leave(root);
  };
}
