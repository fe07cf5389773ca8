import type { Model } from './model';
import { view } from './view';

/** What anywidget asks for: puts a widget into the place that a notebook has for it. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  return view(model, el);
}

export default { render };
