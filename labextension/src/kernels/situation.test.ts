import { expect, test } from 'vitest';
import type { Place } from './place';
import { situationOf, stateOf } from './situation';

/** A notebook whose kernel tells that it has no cluster; `empty` if there never was one. */
const withoutCluster = (empty: boolean) =>
  ({
    name: 'guide.ipynb',
    kernel: { status: 'idle' },
    live: {
      loaded: true,
      told: true,
      empty,
      status: { phase: 'live', words: '' },
      state: { clusters: [], local: undefined }
    }
  }) as unknown as Place;

test('before the first cluster it says that there is none yet', () => {
  const { kind, words } = situationOf(withoutCluster(true));
  expect(kind).toBe('cluster');
  expect(words).toContain('No Dask cluster and no computation in guide.ipynb yet.');
});

test('after the last one it says that there is none now, and what is still on show', () => {
  const { words } = situationOf(withoutCluster(false));
  expect(words).toContain('No Dask cluster in guide.ipynb now. What it had sent is still here.');
});

/** A notebook, as a page knows it whose kernel has told things or not yet. */
const placeWith = (live: object, more: object = {}) =>
  ({
    name: 'guide.ipynb',
    kernel: { status: 'idle' },
    live: { loaded: false, told: false, empty: true, status: { phase: 'waiting', words: '' }, ...live },
    ...more
  }) as unknown as Place;

test.each([
  ['which kernel there is', placeWith({}, { kernel: undefined, connecting: true })],
  ['whether its kernel tells about Dask', placeWith({ seeking: true })]
])('while it is being found out %s, nothing is said to be missing', (_, place) => {
  expect(situationOf(place)).toEqual({
    kind: 'waiting',
    words: 'Connecting to the kernel of guide.ipynb.'
  });
});

test('a kernel that has answered without the extension is told how to load it', () => {
  const { kind, code } = situationOf(placeWith({ seeking: false }));
  expect([kind, code]).toEqual(['absent', '%load_ext dask_insight']);
});

test('a kernel of another language is told that panels need Python, with nothing to run', () => {
  const { words, code } = situationOf(placeWith({ foreign: true }));
  expect([words, code]).toEqual(['Panels need a Python kernel.', undefined]);
});

test.each([
  ['an open notebook', { kind: 'notebook', open: true }, 'choose Kernel → Reconnect to Kernel'],
  ['an open console', { kind: 'console', open: true }, 'reload the page'],
  ['what has been closed', { kind: 'notebook', open: false }, 'open guide.ipynb again']
])('where the connection has been given up it says how %s gets it back', (_, which, what) => {
  const kernel = { status: 'unknown', connectionStatus: 'disconnected' };
  const { words } = situationOf(placeWith({ empty: false, seeking: true }, { kernel, ...which }));
  expect(words).toBe(`Not connected: ${what}. What it had sent is still here.`);
});

test('a console that is live through the connection of a notebook has nothing to say', () => {
  const kernel = { status: 'unknown', connectionStatus: 'disconnected' };
  const live = {
    loaded: true,
    told: true,
    state: { clusters: [{}], local: undefined },
    status: { phase: 'live', words: '' }
  };
  expect(situationOf(placeWith(live, { kernel, kind: 'console', open: true })).kind).toBe('well');
});

test('after the extension was unloaded it says that it has ended, and what is still on show', () => {
  const status = { phase: 'gone', words: 'Recording has ended in the kernel.' };
  const { kind, words } = situationOf(placeWith({ empty: false, status }));
  expect(kind).toBe('ended');
  expect(words).toContain('Recording has ended in the kernel. What it had sent is still here.');
});

test('of a kernel that has gone nothing is said any more', () => {
  const state = { clusters: [{}], local: undefined };
  const live = { loaded: true, told: true, state, status: { phase: 'live', words: '' } };
  expect(stateOf(placeWith(live))).toBe(state);
  expect(stateOf(placeWith(live, { kernel: undefined }))).toBeUndefined();
});
