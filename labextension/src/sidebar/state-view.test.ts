import { expect, test } from 'vitest';
import { readState } from '../kernels/kernel-state';
import type { Place } from '../kernels/place';
import { StateView } from './state-view';

/** What a kernel said that keeps 1,000 of the 3,000 tasks that its threads have run. */
const SAID = {
  type: 'state',
  feed: 'f',
  busy: null,
  clusters: [],
  local: {
    workers: 1,
    threads: 2,
    memory: null,
    memory_limit: null,
    tasks: { total: 3000, done: 3000, erred: 0 }
  },
  history: { limit: 1000, attempts: 1000, dropped: { attempts: 2000, graph: 2000, phases: 11 } },
  notes: ['Client-7 is not recorded: it is closed']
};

const place = {
  name: 'a.ipynb',
  path: 'a.ipynb',
  kernel: { name: 'python3', status: 'idle' },
  live: {
    loaded: true,
    told: true,
    empty: false,
    status: { phase: 'live', words: 'Live.' },
    state: readState(SAID),
    page: { damages: [] }
  }
} as unknown as Place;

test('it says what the history has dropped, and what is not recorded', () => {
  const view = new StateView();
  view.show(place);
  const losses = [...view.element.querySelectorAll('.di-losses li')].map(each => each.textContent);
  expect(losses).toEqual([
    '2,000 older tasks are not kept (limit 1,000; change it in the settings).',
    'Client-7 is not recorded: it is closed'
  ]);
});
