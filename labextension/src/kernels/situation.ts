import type { KernelState } from './kernel-state';
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
  if (place.connecting) return connecting(name);
  if (!kernel || kernel.status === 'dead') {
    return { kind: 'kernel', words: `${name} has no running kernel. Start one to see it live.${kept}` };
  }
  // It may still be live through the connection of another place.
  if (kernel.connectionStatus === 'disconnected' && live?.status.phase !== 'live') {
    return { kind: 'kernel', words: `Not connected: ${reconnecting(place)}.${kept}` };
  }
  if (live?.status.phase === 'gone') {
    const { words } = live.status;
    return { kind: 'ended', words: `${words}${kept} To begin again, run:`, code: '%load_ext dask_insight' };
  }
  if (live?.seeking) return connecting(name);
  if (live?.foreign) return { kind: 'kernel', words: 'Panels need a Python kernel.' };
  if (!live?.loaded) {
    return {
      kind: 'absent',
      words: `The kernel of ${name} does not tell about Dask yet.${kept} Run in a cell:`,
      code: '%load_ext dask_insight'
    };
  }
  const { phase, words } = live.status;
  if (phase === 'refused') return { kind: 'versions', words };
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

/** What gets the connection of a place back. */
function reconnecting({ open, kind, name }: Place): string {
  if (!open) return `open ${name} again`;
  return kind === 'notebook' ? 'choose Kernel → Reconnect to Kernel' : 'reload the page';
}

function connecting(name: string): Situation {
  return { kind: 'waiting', words: `Connecting to the kernel of ${name}.` };
}

/** What the kernel of a place says of itself; undefined where none is there to say anything. */
export function stateOf(place: Place | undefined): KernelState | undefined {
  const { kind } = situationOf(place);
  return kind === 'well' || kind === 'waiting' || kind === 'cluster' ? place?.live?.state : undefined;
}
