import type { Place } from './place';

/** Why there is nothing new to see, and what to do about it. */
export interface Situation {
  readonly kind: 'nowhere' | 'kernel' | 'absent' | 'cluster' | 'waiting' | 'ended' | 'versions' | 'well';
  /** For a person; '' if all is well. */
  readonly words: string;
  /** What to type into a cell. */
  readonly code?: string;
}

/** How it stands with a place, the most important thing first. */
export function situationOf(place: Place | undefined): Situation {
  if (!place) {
    return {
      kind: 'nowhere',
      words: 'No notebook or console is open. Panels show what Dask does in the kernel of one.'
    };
  }
  const { kernel, live, name } = place;
  const kept = live && !live.empty ? ' What it had sent is still here.' : '';
  if (!kernel || kernel.status === 'dead') {
    return { kind: 'kernel', words: `${name} has no running kernel. Start one to see it live.${kept}` };
  }
  if (!live?.loaded) {
    return {
      kind: 'absent',
      words: `The kernel of ${name} does not tell about Dask yet. Run in a cell:`,
      code: '%load_ext dask_insight'
    };
  }
  const { phase, words } = live.status;
  if (phase === 'refused') return { kind: 'versions', words };
  if (phase === 'gone') {
    return { kind: 'ended', words: `${words}${kept} To begin again, run:`, code: '%load_ext dask_insight' };
  }
  if (phase === 'waiting' || phase === 'replay' || !live.told) return { kind: 'waiting', words };
  if (live.state.clusters.length === 0 && live.state.local === undefined) {
    return {
      kind: 'cluster',
      words: live.empty
        ? `No Dask cluster and no computation in ${name} yet. For a cluster on this machine, run:`
        : `No Dask cluster in ${name} now.${kept} For a new one on this machine, run:`,
      code: 'from dask.distributed import Client\nclient = Client()'
    };
  }
  return { kind: 'well', words: '' };
}
