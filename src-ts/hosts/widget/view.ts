import type { Stop } from '../../core/recording';
import { element } from '../../panels/element';
import type { LivePanel } from '../live-page';
import { keepScheme } from '../scheme';
import { onSign } from '../signs';
import { fillHead } from './head';
import { listen, type Model } from './model';
import { Shared } from './shared';
import { keepStyled } from './styles';

/** What the overview shows, from the top. */
const OVERVIEW = ['findings', 'time-budget', 'task-stream', 'resources', 'memory'];

/** One line, and under it the overview or one panel. Returns the stop. */
export function view(model: Model, el: HTMLElement): Stop {
  // JupyterLab would take the keys of the charts for its own.
  const root = element('div', { class: 'di-widget di-page', 'data-lm-suppress-shortcuts': 'true' });
  const shared = Shared.join(model, root);
  el.append(root);
  const stop = whenInPage(root, () => fill(root, model, shared));
  return () => {
    stop();
    root.remove();
    shared.leave(root);
  };
}

/** How panels look depends on the page around them, and a host may put a widget there only later. */
function whenInPage(root: HTMLElement, begin: () => Stop): Stop {
  if (root.isConnected) return begin();
  let stop: Stop | undefined;
  const observer = new ResizeObserver(() => {
    if (!root.isConnected) return;
    observer.disconnect();
    stop = begin();
  });
  observer.observe(root);
  return () => {
    observer.disconnect();
    stop?.();
  };
}

function fill(root: HTMLElement, model: Model, shared: Shared): Stop {
  const head = element('div', { class: 'di-widget-head' });
  const body = element('div');
  root.append(head, body);
  keepStyled(root, model.get('_css'));
  // VS Code puts all widgets on white, in its dark themes too; this one has the theme's colours.
  const stops = [keepScheme(root, true), keepScheme(head), fillHead(head, model, shared)];

  let panels: LivePanel[] = [];
  const clear = (): void => {
    for (const panel of panels) panel.dispose();
    body.replaceChildren();
  };
  const show = (): void => {
    clear();
    const chosen = model.get('panel');
    panels = (chosen === null ? OVERVIEW : [chosen]).map(id => {
      const host = element('div', { class: 'di-widget-panel' });
      body.append(host);
      return shared.page.mount(id, host, { titled: chosen === null });
    });
  };
  show();
  // Without a kernel nothing comes of what has ended, and empty panels would say that nothing ran. They are there all
  // the same: what they need is asked for meanwhile.
  let awaited = !model.get('_live');
  const cover = (): void => {
    awaited &&= ['waiting', 'refused'].includes(shared.status.phase);
    body.classList.toggle('di-awaited', awaited);
  };
  cover();
  stops.push(
    listen(model, 'change:panel', show),
    shared.onChange(cover),
    onSign(root, () => shared.wake())
  );

  const seen = new IntersectionObserver(entries => {
    shared.setVisible(root, entries[entries.length - 1]?.isIntersecting === true);
  });
  seen.observe(root);
  return () => {
    seen.disconnect();
    clear();
    for (const stop of stops) stop();
  };
}
