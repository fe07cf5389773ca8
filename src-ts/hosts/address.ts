import { listed } from '../core/json-list';
import type { Clause, TimeRange } from '../core/selection';
import type { Stage } from '../panels/panel';

/** How long the picture must rest before the address follows, milliseconds. */
const REST = 250;

/** What is longer than this does not go into an address: thousands of attempts that failed alike. Signs. */
const LONGEST = 10_000;

/** What an address says: a stretch of time in seconds from the start, and the selection's own text. */
export interface Place {
  readonly zoom: readonly [start: number, stop: number] | undefined;
  readonly selection: string;
}

export function write(place: Place): string {
  const parts = new URLSearchParams();
  if (place.zoom) parts.set('zoom', place.zoom.map(time => Number(time.toFixed(6))).join('-'));
  if (place.selection !== '' && place.selection !== '[]') parts.set('select', place.selection);
  return parts.toString();
}

export function read(hash: string): Place {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const times = (parts.get('zoom') ?? '').split('-').map(Number);
  const sound = times.length === 2 && times.every(time => Number.isFinite(time)) && times[1] > times[0];
  return { zoom: sound ? [times[0], times[1]] : undefined, selection: parts.get('select') ?? '' };
}

/** The clauses that `Selection.save` wrote; what is none, as in an address that a person edited, is left out. */
export function clausesIn(text: string): readonly Clause[] {
  return listed(text).filter(isClause);
}

function isClause(value: unknown): value is Clause {
  if (typeof value !== 'object' || value === null) return false;
  const { source, column, value: inner } = value as Record<string, unknown>;
  if (typeof source !== 'string') return false;
  if (column === 'time') {
    const range = inner as Partial<TimeRange> | null;
    return typeof range?.start === 'number' && typeof range.stop === 'number';
  }
  const kind = column === 'run' || column === 'cell' ? 'number' : 'string';
  return (
    ['name', 'worker', 'span', 'run', 'cell', 'line'].includes(String(column)) &&
    Array.isArray(inner) &&
    inner.length > 0 &&
    inner.every(each => typeof each === kind)
  );
}

/** Keeps zoom and selection in the address, and follows the address when a person changes it. */
export function keepAddress({ viewport, selection }: Stage): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written = location.hash.replace(/^#/, '');

  // A page may open at a part of the time.
  const atRest = (): boolean => viewport.follow || viewport.fitted;
  const follow = (): void => {
    const { zoom, selection: text } = read(location.hash);
    const clauses = clausesIn(text);
    if (clauses.length > 0 || selection.clauses.length > 0) selection.replace(clauses);
    if (zoom) viewport.show(viewport.origin + zoom[0], viewport.origin + zoom[1]);
    else if (!atRest()) viewport.fit();
  };
  const save = (): void => {
    const { origin, start, stop } = viewport;
    const zoom = atRest() ? undefined : ([start - origin, stop - origin] as const);
    const text = selection.save();
    const next = write({ zoom, selection: text.length > LONGEST ? '' : text });
    if (next === written) return;
    written = next;
    try {
      history.replaceState(history.state, '', next ? `#${next}` : location.href.replace(/#.*$/, ''));
    } catch {
      // A page inside a frame has no address of its own; the state then lives as long as the page.
    }
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(save, REST);
  };
  const onHash = (): void => {
    const now = location.hash.replace(/^#/, '');
    if (now === written) return;
    written = now;
    follow();
  };

  if (written) follow();
  const stops = [viewport.subscribe(later), selection.subscribe(later)];
  window.addEventListener('hashchange', onHash);
  return () => {
    clearTimeout(timer);
    window.removeEventListener('hashchange', onHash);
    for (const stop of stops) stop();
  };
}
