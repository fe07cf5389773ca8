import { expect, test } from 'vitest';
import type { Place } from './place';
import { situationOf } from './situation';

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
