import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withWords } from './words';

const TEXT = 'tried: 5 s on 1 thread.\nThese panels of dask_insight show what their kernel holds.';

/** A renderer of widgets that says `words` when it knows that there is none. */
function renderer(words: Promise<string>): IRenderMime.IRenderer {
  const node = document.createElement('div');
  const made = {
    node,
    isDisposed: false,
    renderModel: async () => {
      node.textContent = 'Loading widget...';
      node.textContent = await words;
    }
  };
  return withWords(made as unknown as IRenderMime.IRenderer);
}

function model(text: string | string[]): IRenderMime.IMimeModel {
  return { data: { 'text/plain': text } } as unknown as IRenderMime.IMimeModel;
}

const MISSING = 'Error displaying widget: model not found';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test.each([[TEXT], [TEXT.split('\n')]])('a widget of ours that is not there says what to do', async text => {
  const made = renderer(Promise.resolve(MISSING));
  await made.renderModel(model(text));
  expect(made.node.textContent).toContain('These panels of dask_insight');
});

test('it says so too while no kernel is there, and makes way when one is', async () => {
  let found = (_words: string): void => undefined;
  const made = renderer(
    new Promise(resolve => {
      found = resolve;
    })
  );
  const shown = made.renderModel(model(TEXT));
  expect(made.node.textContent).toBe('Loading widget...');
  vi.runAllTimers();
  expect(made.node.textContent).toBe(TEXT);
  found('the widget itself');
  await shown;
  expect(made.node.textContent).toBe('the widget itself');
});

test('widgets of others are left as they are', async () => {
  const made = renderer(Promise.resolve(MISSING));
  await made.renderModel(model('IntSlider(value=0)'));
  expect(made.node.textContent).toBe(MISSING);
});
