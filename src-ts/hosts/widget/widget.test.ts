import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PROTOCOL } from '../../core/feed';
import { bytesOf, joined } from '../../core/test-bytes';
import { PANELS } from '../../panels/index';
import widget from './index';
import type { Model, Traits } from './model';

type Message = Readonly<Record<string, unknown>>;
type Callback = (...values: never[]) => void;

/** What a host keeps of one widget; every view gets a proxy of its own, as anywidget's do. */
class Host {
  readonly sent: Message[] = [];
  /** The kernel has gone, and with it the way to it. */
  gone = false;
  readonly saved: Partial<Traits>[] = [];
  private readonly listeners = new Map<string, Set<Callback>>();
  private unsaved: Partial<Traits> = {};

  constructor(readonly traits: Traits) {}

  model(): Model {
    return {
      get: name => this.traits[name],
      set: (name, value) => {
        if (JSON.stringify(this.traits[name]) === JSON.stringify(value)) return;
        this.traits[name] = value;
        this.unsaved[name] = value;
        this.tell(`change:${name}`);
      },
      save_changes: () => {
        this.saved.push(this.unsaved);
        this.unsaved = {};
      },
      send: content => {
        if (this.gone) throw new Error('Cannot send');
        this.sent.push(content as Message);
      },
      on: (event: string, callback: Callback) => this.of(event).add(callback),
      off: (event: string, callback: Callback) => this.of(event).delete(callback)
    } as Model;
  }

  /** What Python does when it assigns to a trait. */
  assign<K extends keyof Traits>(name: K, value: Traits[K]): void {
    this.traits[name] = value;
    this.tell(`change:${name}`);
  }

  /** A message of the kernel, for the page that said hello last. */
  receive(message: Message, bytes?: Uint8Array): void {
    const pages = [this.hellos().at(-1)?.page];
    this.tell(
      'msg:custom',
      { ...message, pages },
      bytes ? [new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)] : []
    );
  }

  /** Its kernel begins anew: ipywidgets tells that there is no way to it any more. */
  restart(): void {
    this.tell('comm_live_update');
  }

  hellos(): Message[] {
    return this.sent.filter(({ type }) => type === 'hello');
  }

  get registered(): number {
    return [...this.listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  private of(event: string): Set<Callback> {
    const found = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, found);
    return found;
  }

  private tell(event: string, ...values: unknown[]): void {
    for (const callback of [...this.of(event)]) callback(...(values as never[]));
  }
}

/** Everything has a width at once. */
class Sized {
  constructor(private readonly callback: (entries: object[]) => void) {}
  observe(target: Element): void {
    this.callback([{ target, contentRect: { width: 100, height: 100 } }]);
  }
  unobserve(): void {}
  disconnect(): void {}
}

const NOTHING: Traits = {
  time_range: null,
  names: null,
  workers: null,
  spans: null,
  runs: null,
  cells: null,
  lines: null,
  panel: null,
  _started: 100,
  _key: 'k',
  _live: false,
  _title: 'night run',
  _verdict: '5 s on 1 thread.',
  _version: '0.1.0',
  _css: ''
};

let stops: (() => void)[] = [];

function hostOf(traits: Partial<Traits> = {}): Host {
  return new Host({ ...NOTHING, ...traits });
}

function show(host: Host): { el: HTMLElement; stop: () => void } {
  const el = document.createElement('div');
  document.body.append(el);
  const stop = widget.render({ model: host.model(), el });
  stops.push(stop);
  return { el, stop };
}

function history(): Uint8Array {
  return joined(
    bytesOf('graph', [
      { task: 0, key: 'inc-0', prefix: 'inc', submission: 0 },
      { task: 1, key: 'dec-1', prefix: 'dec', submission: 0 }
    ]),
    bytesOf('attempts', [
      { run: 0, task: 0, worker: 'w', thread: 't', status: 'ok', start: 101, stop: 102, done: 102 },
      { run: 1, task: 1, worker: 'w', thread: 't', status: 'ok', start: 102, stop: 105, done: 105 }
    ])
  );
}

function answer(host: Host): void {
  host.receive({ type: 'hello', protocol: PROTOCOL, version: '0.1.0', feed: 'f', upto: 2 });
  host.receive({ type: 'data', feed: 'f', from: 0, to: 2, replay: false }, history());
}

const words = (el: HTMLElement): string => el.querySelector('.di-widget-words')?.textContent ?? '';
const shown = (el: HTMLElement): string[] =>
  [...el.querySelectorAll('.di-widget > :not(.di-awaited) .di-panel')].map(
    each => each.className.replace(/.*di-panel-/, '').split(' ')[0]
  );

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
  vi.unstubAllGlobals();
  vi.useRealTimers();
  document.body.replaceChildren();
});

describe('a widget', () => {
  it('asks for the recording, shows the overview and says what it is', () => {
    const host = hostOf();
    const { el } = show(host);
    expect(host.hellos()).toMatchObject([{ protocol: PROTOCOL, have: null }]);
    answer(host);
    expect(shown(el)).toEqual(['findings', 'time-budget', 'task-stream', 'resources', 'memory']);
    expect(words(el)).toBe('5 s on 1 thread.');
    expect(el.querySelector('strong')?.textContent).toBe('night run');
  });

  it('says what came out and what to do when no kernel answers, and shows panels when one does', () => {
    const host = hostOf();
    const { el } = show(host);
    vi.advanceTimersByTime(5000);
    expect(words(el)).toMatch(
      /^5 s on 1 thread\. The kernel does not answer.*run the cell again. A report needs none/
    );
    host.assign('panel', 'compare');
    expect(words(el)).toMatch(/^5 s on 1 thread\. The kernel/);
    expect(shown(el)).toEqual([]);
    host.assign('panel', 'memory');
    answer(host);
    expect(words(el)).toBe('5 s on 1 thread.');
    expect(shown(el)).toEqual(['memory']);
    expect(shown(show(host).el)).toEqual(['memory']);
  });

  it('says what its panels need before a kernel answers', () => {
    vi.stubGlobal('ResizeObserver', Sized);
    const host = hostOf({ panel: 'time-budget' });
    const { el } = show(host);
    expect(shown(el)).toEqual([]);
    expect(host.sent.find(({ type }) => type === 'needs')).toMatchObject({ tables: ['budget', 'lines'] });
  });

  it('shows no panels where a kernel of another version answers', () => {
    const host = hostOf();
    const { el } = show(host);
    host.receive({ type: 'hello', protocol: PROTOCOL + 1, version: '9', feed: 'f', upto: 2 });
    expect(words(el)).toContain('Install the newer one');
    expect(shown(el)).toEqual([]);
  });

  it('tells of reports only where there is a recording to show in one', () => {
    const { el } = show(hostOf({ _live: true, _verdict: '' }));
    vi.advanceTimersByTime(5000);
    expect(words(el)).toMatch(/run the cell again\.$/);
  });

  it('shows one panel, by choice of the person or of Python', () => {
    const host = hostOf({ panel: 'memory' });
    const { el } = show(host);
    answer(host);
    expect(shown(el)).toEqual(['memory']);
    host.assign('panel', 'functions');
    expect(shown(el)).toEqual(['functions']);
    const picker = el.querySelector<HTMLSelectElement>('select');
    if (!picker) throw new Error('no picker');
    expect(picker.value).toBe('functions');
    expect(picker.options).toHaveLength(PANELS.length + 1);
    picker.value = '';
    picker.dispatchEvent(new Event('change'));
    expect(host.saved).toEqual([{ panel: null }]);
    expect(shown(el)).toHaveLength(5);
  });

  it('leaves the verdict to Compare, which begins with it', () => {
    const host = hostOf({ panel: 'compare', _verdict: 'Twice as fast.' });
    const { el } = show(host);
    answer(host);
    expect(words(el)).toBe('');
    host.assign('panel', null);
    expect(words(el)).toBe('Twice as fast.');
  });

  it('tells how far the work is, and what is missing, while it is live', () => {
    const host = hostOf({ _live: true });
    const { el } = show(host);
    answer(host);
    expect(words(el)).toBe('2 tasks so far');
    const tasks = { total: 2000, done: 1234, erred: 3 };
    const history = { limit: 200_000, attempts: 200_000, dropped: { attempts: 12_400 } };
    const clusters = [{ workers: 2, threads: 4, tasks }];
    const local = { workers: 1, threads: 2, tasks: { total: 0, done: 0, erred: 0 } };
    host.receive({ type: 'state', feed: 'f', clusters, local, history, notes: [] });
    expect(words(el)).toBe(
      '2 workers, 4 threads · 1,234 of 2,000 tasks · 3 failed · 12,400 older tasks not kept (limit 200,000)'
    );
    expect(el.querySelector('.di-live-controls')).not.toBeNull();
    const heard = (): unknown => el.querySelector('.di-widget-words')?.ariaLive;
    expect(heard()).toBe('off');
    host.assign('_verdict', 'It took 5 s.');
    host.assign('_live', false);
    expect(words(el)).toBe('It took 5 s.');
    expect(heard()).toBe('polite');
    const before = el.querySelector('.di-widget-words')?.firstChild;
    host.assign('panel', 'memory');
    expect(el.querySelector('.di-widget-words')?.firstChild).toBe(before);
    expect(el.querySelector('.di-live-controls')).toBeNull();
  });

  it('goes on, where it was held still, when its recording ends, and leaves the keyboard in its head', () => {
    const host = hostOf({ _live: true });
    const { el } = show(host);
    answer(host);
    const pause = el.querySelector<HTMLElement>('[title^="Pause"]');
    pause?.focus();
    pause?.click();
    const late = bytesOf('attempts', [
      { run: 2, task: 0, worker: 'w', thread: 't', status: 'ok', start: 106, stop: 107, done: 107 }
    ]);
    host.receive({ type: 'data', feed: 'f', from: 2, to: 3, replay: false }, late);
    host.assign('_live', false);
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Panel to show');
    expect(host.sent.filter(({ type }) => type === 'needs').at(-1)?.still).toBeFalsy();
    expect(document.querySelector('[title^="Resume"]')).toBeNull();
  });

  it('says what could not be read', async () => {
    const host = hostOf();
    const { el } = show(host);
    answer(host);
    const damaged = history().slice(0, -3);
    host.receive({ type: 'data', feed: 'f', from: 2, to: 3, replay: false }, damaged);
    await Promise.resolve();
    expect(words(el)).toMatch(/^5 s on 1 thread\. · unread: .*end too early$/);
  });

  it.each(['pointerdown', 'keydown', 'wheel'])('has a kernel that rests go on, once, at a %s', sign => {
    const host = hostOf({ _live: true });
    const { el } = show(host);
    answer(host);
    const touch = (): unknown =>
      el.querySelector('.di-panel')?.dispatchEvent(new Event(sign, { bubbles: true }));
    touch();
    expect(host.hellos()).toHaveLength(1);
    host.receive({ type: 'state', feed: 'f', resting: true, notes: ['Paused.'] });
    expect(words(el)).toBe('2 tasks so far · Paused.');
    touch();
    touch();
    expect(host.hellos()).toHaveLength(2);
    host.receive({ type: 'gone', feed: 'f' });
    host.receive({ type: 'state', feed: 'f', resting: true });
    touch();
    expect(host.hellos()).toHaveLength(2);
  });

  it('counts tasks with a result, not attempts', () => {
    const host = hostOf({ _live: true });
    const { el } = show(host);
    host.receive({ type: 'hello', protocol: PROTOCOL, version: '0.1.0', feed: 'f', upto: 1 });
    const ran = { task: 0, worker: 'w', thread: 't', start: 101, stop: 102, done: 102 };
    const attempts = ['stolen', 'ok', 'ok'].map((status, run) => ({ ...ran, run, status }));
    host.receive({ type: 'data', feed: 'f', from: 0, to: 1, replay: false }, bytesOf('attempts', attempts));
    expect(words(el)).toBe('1 task so far');
  });

  it('no longer says how the cluster stands when its kernel has been restarted', () => {
    const host = hostOf({ _live: true });
    const { el } = show(host);
    answer(host);
    host.receive({ type: 'state', feed: 'f', clusters: [{ workers: 2, threads: 4 }], local: null });
    expect(words(el)).toContain('2 workers, 4 threads');
    host.gone = true;
    host.restart();
    vi.advanceTimersByTime(5000);
    expect(words(el)).toContain('The kernel does not answer.');
    expect(el.querySelector<HTMLElement>('.di-widget-head')?.dataset.phase).toBe('waiting');
  });

  it('keeps its words where the recording had ended before the kernel was restarted', () => {
    const host = hostOf({ _verdict: 'Twice as fast.' });
    const { el } = show(host);
    answer(host);
    host.gone = true;
    host.restart();
    vi.advanceTimersByTime(5000);
    expect(words(el)).toBe('Twice as fast.');
  });

  it('asks once more for a recording that has ended, until a kernel answers', () => {
    const host = hostOf();
    const { el } = show(host);
    vi.advanceTimersByTime(4000);
    expect(host.hellos()).toHaveLength(2);
    answer(host);
    expect(words(el)).toBe('5 s on 1 thread.');
    vi.advanceTimersByTime(600_000);
    expect(host.hellos()).toHaveLength(2);
  });

  it('asks for what it lacks when its connection begins anew amid the history', () => {
    const host = hostOf();
    show(host);
    host.receive({ type: 'hello', protocol: PROTOCOL, version: '0.1.0', feed: 'f', upto: 2 });
    host.restart();
    expect(host.hellos()).toHaveLength(2);
  });

  it('asks for nothing more when the kernel has ended it', () => {
    const host = hostOf({ _live: true });
    const { el } = show(host);
    answer(host);
    host.receive({ type: 'gone', feed: 'f' });
    host.assign('_live', false);
    const said = words(el);
    vi.advanceTimersByTime(60_000);
    document.dispatchEvent(new Event('visibilitychange'));
    expect(host.hellos()).toHaveLength(1);
    expect(words(el)).toBe(said);
  });

  it.each([
    ['the page is looked at again', () => document.dispatchEvent(new Event('visibilitychange'))],
    ['the network is back', () => window.dispatchEvent(new Event('online'))]
  ])('after silence asks for what it lacks when %s', (_, happen) => {
    const host = hostOf({ _live: true });
    const { stop } = show(host);
    answer(host);
    vi.advanceTimersByTime(15_000);
    happen();
    expect(host.hellos()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    happen();
    expect(host.hellos()).toHaveLength(2);
    answer(host);
    host.assign('_live', false);
    vi.advanceTimersByTime(20_000);
    happen();
    expect(host.hellos()).toHaveLength(2);
    host.assign('_live', true);
    stop();
    happen();
    expect(host.hellos()).toHaveLength(2);
  });

  it('treats names from the cluster as text', () => {
    const { el } = show(hostOf({ _title: '<img src=x onerror=alert(1)>' }));
    expect(el.querySelector('img')).toBeNull();
  });
});

describe('several views of one widget', () => {
  it('share one connection, whichever of them goes first', () => {
    const host = hostOf();
    const first = show(host);
    const second = show(host);
    expect(host.hellos()).toHaveLength(1);
    answer(host);
    first.stop();
    expect(host.sent.map(({ type }) => type)).not.toContain('bye');
    host.assign('names', ['inc']);
    expect(second.el.querySelector('.di-chip')?.textContent).toBe('inc');
    second.stop();
    expect(host.sent.at(-1)?.type).toBe('bye');
    expect(host.registered).toBe(0);
  });

  it('leave nothing behind when the kernel has gone before them', () => {
    const host = hostOf();
    const { el, stop } = show(host);
    answer(host);
    host.gone = true;
    stop();
    expect(el.children).toHaveLength(0);
    expect(host.registered).toBe(0);
    host.gone = false;
    show(host);
    expect(host.hellos()).toHaveLength(2);
  });

  it('leave nothing behind, and begin anew', () => {
    const host = hostOf();
    const before = vi.getTimerCount();
    for (let time = 0; time < 10; time++) {
      const { el, stop } = show(host);
      answer(host);
      stop();
      expect(el.children).toHaveLength(0);
      el.remove();
    }
    expect(host.hellos()).toHaveLength(10);
    expect(host.registered).toBe(0);
    vi.runAllTimers();
    expect(vi.getTimerCount()).toBe(before);
    expect(document.body.children).toHaveLength(0);
  });
});

describe('the kernel is told whether anybody sees the widget', () => {
  let look: Map<Element, (isIntersecting: boolean) => void>;

  beforeEach(() => {
    look = new Map();
    class Observer {
      constructor(private readonly callback: (entries: object[]) => void) {}
      observe(target: Element): void {
        look.set(target, isIntersecting => this.callback([{ isIntersecting }]));
      }
      disconnect(): void {}
    }
    vi.stubGlobal('IntersectionObserver', Observer);
  });

  function scroll({ el }: ReturnType<typeof show>, isInSight: boolean): void {
    look.get(el.firstElementChild as Element)?.(isInSight);
  }

  /** What it has been told since it was last asked for. */
  function told(host: Host): unknown[] {
    return host.sent.splice(0).flatMap(({ type, visible }) => (type === 'visible' ? [visible] : []));
  }

  it('once it has been out of sight for a while, and as soon as it is back', () => {
    const host = hostOf({ _live: true });
    const view = show(host);
    answer(host);
    scroll(view, true);
    told(host);
    scroll(view, false);
    vi.advanceTimersByTime(1999);
    scroll(view, true);
    scroll(view, false);
    vi.advanceTimersByTime(1999);
    expect(told(host)).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(told(host)).toEqual([false]);
    scroll(view, true);
    expect(told(host)).toEqual([true]);
  });

  it('only when none of its views is in sight, or the last of those that were goes', () => {
    const host = hostOf({ _live: true });
    const [first, second, hidden] = [show(host), show(host), show(host)];
    answer(host);
    for (const view of [first, second]) scroll(view, true);
    told(host);
    first.stop();
    vi.advanceTimersByTime(10_000);
    expect(told(host)).toEqual([]);
    second.stop();
    vi.advanceTimersByTime(2000);
    expect(told(host)).toEqual([false]);
    hidden.stop();
  });
});

describe('what is selected', () => {
  /** Chips of the panels say what narrows them. */
  const chips = (el: HTMLElement): (string | null)[] =>
    [...el.querySelectorAll('.di-panel-functions .di-chip')].map(({ textContent }) => textContent);

  it('by Python is selected in the panels, from the beginning', () => {
    const host = hostOf({ panel: 'functions', names: ['inc'], time_range: [1, 2] });
    const { el } = show(host);
    answer(host);
    expect(chips(el)).toHaveLength(2);
    host.assign('names', null);
    host.assign('time_range', null);
    vi.runAllTimers();
    expect(chips(el)).toEqual([]);
    expect(host.saved).toEqual([]);
  });

  it('by Python and without an end is told back as no selection', () => {
    const host = hostOf({ time_range: [1, null] as unknown as [number, number] });
    const { el } = show(host);
    answer(host);
    vi.runAllTimers();
    expect([chips(el), host.traits.time_range]).toEqual([[], null]);
  });

  it('by a person is told to Python when it rests', () => {
    const host = hostOf({ panel: 'functions', names: ['inc', 'dec'], time_range: [1, 2.5] });
    const { el } = show(host);
    answer(host);
    el.querySelector<HTMLButtonElement>('.di-chip')?.click();
    expect(host.saved).toEqual([]);
    vi.runAllTimers();
    expect(host.saved).toHaveLength(1);
    const [told] = host.saved;
    expect(Object.keys(told ?? {})).toHaveLength(1);
    expect(Object.values(told ?? {})).toEqual([null]);
  });

  it('takes the place of what a person had selected in the same column', () => {
    const host = hostOf({ panel: 'functions' });
    const { el } = show(host);
    answer(host);
    host.assign('names', ['inc']);
    host.assign('names', ['dec']);
    expect(chips(el)).toEqual(['dec']);
  });

  it('as nothing at all is told back as no selection', () => {
    const host = hostOf({ panel: 'functions', names: ['inc'] });
    show(host);
    answer(host);
    host.assign('names', []);
    vi.runAllTimers();
    expect(host.traits.names).toBeNull();
  });
});
