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

const placeThatSaid = (said: object): Place =>
  ({
    name: 'a.ipynb',
    path: 'a.ipynb',
    kernel: { name: 'python3', status: 'idle' },
    live: {
      loaded: true,
      told: true,
      empty: false,
      status: { phase: 'live', words: 'Live.' },
      state: readState(said),
      page: { damages: [] }
    }
  }) as unknown as Place;

function lossesIn(said: object): (string | null)[] {
  const view = new StateView();
  view.show(placeThatSaid(said));
  return [...view.element.querySelectorAll('.di-losses li')].map(each => each.textContent);
}

test('it says what the history has dropped, and what is not recorded', () => {
  expect(lossesIn(SAID)).toEqual([
    '2,000 older tasks are not kept (limit 1,000; change it in the settings).',
    'Client-7 is not recorded: it is closed'
  ]);
});

test('it says that samples are not kept, and names no limit where memory was the bound', () => {
  const lossesOf = (attempts: number, dropped: object): (string | null)[] =>
    lossesIn({ ...SAID, history: { limit: 1000, attempts, dropped }, notes: [] });
  const samples = 'Older samples of CPU, memory and call stacks are not kept.';
  expect(lossesOf(0, { resources: 9000, samples: 4000 })).toEqual([samples]);
  expect(lossesOf(70, { attempts: 1, memory: 3 })).toEqual(['1 older task is not kept.', samples]);
});

const cluster = (address: string, done: number, erred = 0) => ({
  client: 'Client-1',
  address,
  workers: 2,
  threads: 4,
  memory: 2 ** 30,
  memory_limit: 2 ** 31,
  tasks: { total: 10, done, erred }
});

test('a cluster keeps its place and what has not changed of it, so that marked text stays marked', () => {
  const view = new StateView();
  const blocks = (): Element[] => [...view.element.querySelectorAll('.di-cluster')];
  const facts = (block: Element): (string | null)[] =>
    [...block.querySelectorAll('dd')].map(({ textContent }) => textContent?.replace(/\s/g, ' ') ?? null);
  view.show(placeThatSaid({ ...SAID, clusters: [cluster('tcp://a', 1), cluster('tcp://b', 5, 2)] }));
  const [first, second, local] = blocks();
  const workers = first.querySelector('dd')?.firstChild;
  expect(facts(second)).toEqual(['2', '4', '1 GiB of 2 GiB', '5 of 10', '2']);

  view.show(placeThatSaid({ ...SAID, clusters: [cluster('tcp://a', 4, 1), cluster('tcp://b', 5)] }));
  expect(blocks()).toEqual([first, second, local]);
  expect(first.querySelector('dd')?.firstChild).toBe(workers);
  expect(facts(first)).toEqual(['2', '4', '1 GiB of 2 GiB', '4 of 10', '1']);
  expect(facts(second)).toEqual(['2', '4', '1 GiB of 2 GiB', '5 of 10']);
  expect(first.querySelector('progress')?.value).toBe(0.4);

  view.show(placeThatSaid({ ...SAID, clusters: [cluster('tcp://c', 0), cluster('tcp://b', 6)] }));
  expect(blocks().map(each => each.querySelector('h4')?.textContent)).toEqual([
    'tcp://c',
    'tcp://b',
    'Local scheduler'
  ]);
  expect(blocks().slice(1)).toEqual([second, local]);
});

test('workers that are paused are said, while there are any', () => {
  const view = new StateView();
  const said = (paused: number): string | null | undefined => {
    view.show(placeThatSaid({ ...SAID, clusters: [{ ...cluster('tcp://a', 1), paused }] }));
    return view.element.querySelector('[data-fact="paused"]')?.textContent?.replace(/\s/g, ' ');
  };
  expect([said(0), said(2), said(0)]).toEqual([undefined, '2 workers', undefined]);
});
