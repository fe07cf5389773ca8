import { deflateSync } from 'node:zlib';
import { encode } from '@msgpack/msgpack';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { THIN } from '../core/format';
import { bytesOf, joined } from '../core/test-bytes';
import { ColorRegistry } from '../draw/palette';
import { Surface } from '../draw/surface';
import type { Stage } from '../panels/panel';
import { LivePage } from './live-page';

let page: LivePage;

beforeEach(() => {
  // Time stands still, so that no slice of reading ever ends.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  page = new LivePage();
});

afterEach(() => {
  page.dispose();
  vi.useRealTimers();
  vi.restoreAllMocks();
  document.body.replaceChildren();
});

/** One task that ran from `start` to `stop`. */
function ran(run: number, start: number, stop: number): Uint8Array {
  return joined(
    bytesOf('graph', [{ task: run, key: `inc-${run}`, prefix: 'inc', submission: run }]),
    bytesOf('attempts', [
      { run, task: run, worker: 'w', thread: 't', status: 'ok', start, stop, done: stop + 0.1 }
    ])
  );
}

const runs = (): number[] => [...page.recording.table('attempts').numbers('run')];

function host(): HTMLElement {
  const made = document.createElement('div');
  document.body.append(made);
  return made;
}

describe('data', () => {
  it('are taken as they come, and charts follow', () => {
    page.take(ran(0, 100, 101));
    page.take(ran(1, 101, 105));
    expect(runs()).toEqual([0, 1]);
    expect(page.viewport.start).toBe(100);
    expect(page.viewport.stop).toBeCloseTo(105.1, 0);
    expect(page.follow).toBe(true);
  });

  it('are laid out in the frame in which their axis grows, not in one of their own', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    page.mount('task-stream', host());
    const invalidated = vi.spyOn(Surface.prototype, 'invalidate');
    page.take(ran(0, 100, 101));
    await Promise.resolve();
    expect(invalidated.mock.calls.map(([what]) => what)).toEqual(expect.arrayContaining(['base', 'layout']));
  });

  it('leave hidden what a panel has nothing to say in', () => {
    page.take(ran(0, 100, 101));
    page.mount('task-stream', host());
    expect(document.querySelector<HTMLElement>('.di-note')?.hidden).toBe(true);
  });

  it('that are damaged are named, and what follows is taken', async () => {
    const told = vi.fn();
    page.onChange(told);
    page.take(Uint8Array.of(0xc1, 1, 2));
    page.take(ran(0, 100, 101));
    expect(page.damages).toHaveLength(1);
    expect(runs()).toEqual([0]);
    await Promise.resolve();
    expect(told).toHaveBeenCalled();
  });

  it('that are damaged alike are named once, and of very many damages the newest', () => {
    for (let times = 0; times < 100; times++) page.take(Uint8Array.of(0xc1, 1, 2));
    expect(page.damages).toHaveLength(1);
    for (let rows = 1; rows < 100; rows++) page.take(encode({ table: 'graph', rows, columns: [] }));
    expect(page.damages).toHaveLength(20);
    expect(page.damages.at(-1)).toBe('99 rows in 0 bytes');
  });

  it('are named where a column turns out damaged when it is looked at, after a replay too', async () => {
    vi.useFakeTimers();
    const code = { name: 'prefix', kind: 'sym', symbols: [], width: 1, data: Uint8Array.of(3) };
    page.reset();
    page.take(encode({ table: 'graph', rows: 1, columns: [code] }));
    vi.advanceTimersByTime(10_000);
    const told = vi.fn();
    page.onChange(told);
    page.recording.table('graph').symbols('prefix');
    expect(page.damages).toEqual(['graph.prefix: column prefix: a code without a symbol']);
    await Promise.resolve();
    expect(told).toHaveBeenCalledOnce();
  });

  it('are unpacked where they come compressed, in their order; damaged pieces are left out', async () => {
    const pieces = [deflateSync(ran(0, 100, 101)), Buffer.of(1, 2, 3), deflateSync(ran(1, 101, 105))];
    page.take(joined(...pieces, ran(2, 105, 106)), { packed: pieces.map(({ length }) => length) });
    page.take(ran(3, 106, 107));
    await vi.waitFor(() => expect(runs()).toEqual([0, 1, 2, 3]));
    expect(page.damages).toEqual(['compressed batches are damaged']);
  });

  it('that were on their way when another recording began are left aside', async () => {
    const piece = deflateSync(ran(0, 100, 101));
    page.take(piece, { packed: [piece.length] });
    page.reset();
    page.take(ran(1, 101, 105));
    await vi.waitFor(() => expect(runs()).toEqual([1]));
  });

  it('are taken after an error that is not theirs, which is told to the browser', () => {
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const stop = page.recording.onAppend(() => {
      stop();
      throw new TypeError('a chart fails');
    });
    page.take(ran(0, 100, 101));
    page.take(ran(1, 101, 105));
    expect(reported).toHaveBeenCalledOnce();
    expect(runs()).toEqual([0, 1]);
    vi.unstubAllGlobals();
  });

  it('wait while the page is paused, and come all at once', () => {
    page.take(ran(0, 100, 101));
    page.paused = true;
    page.take(ran(1, 101, 105));
    expect(runs()).toEqual([0]);
    expect(page.viewport.extent.stop).toBe(101.1);
    page.paused = false;
    expect(runs()).toEqual([0, 1]);
  });
});

describe('what is followed', () => {
  const idle = (time: number): Uint8Array => bytesOf('resources', [{ process: 'w', time, cpu: 1 }]);

  /** From when, and up to when but for the room that is left for more. */
  function expectShown(start: number, stop: number): void {
    expect(page.viewport.start).toBeCloseTo(start, 5);
    expect(page.viewport.stop).toBeGreaterThanOrEqual(stop);
    expect(page.viewport.stop).toBeLessThanOrEqual(stop + 0.2 + (stop - start) / 32);
  }

  it('is the latest run, which begins after a pause', () => {
    page.take(joined(idle(0), ran(0, 100, 110), ran(1, 111, 120)));
    expectShown(100, 120);
    page.take(ran(2, 200, 240));
    expectShown(200, 240);
    page.viewport.fit();
    expectShown(0, 240);
    page.take(ran(3, 240, 250));
    expectShown(0, 250);
    page.take(ran(4, 300, 301));
    expectShown(300, 301);
  });

  it('stands a while after the last task, and goes on with the next', () => {
    page.take(joined(ran(0, 100, 110), idle(5000)));
    expectShown(100, 120);
    expect(page.viewport.extent.stop).toBe(5000);
    page.take(ran(1, 5010, 5030));
    expectShown(5010, 5030);
  });

  it('stays the run of a task that goes on, however long nothing else ran, and when that has ended', () => {
    page.take(
      joined(idle(0), bytesOf('running', [{ run: 0, task: 0, worker: 'w', thread: 't', start: 100 }]))
    );
    page.take(ran(1, 120, 121));
    expectShown(100, 121);
    page.take(ran(0, 100, 160));
    expectShown(100, 160);
  });

  it('is everything once the recording has ended', () => {
    page.take(joined(ran(0, 100, 110), ran(1, 200, 210)));
    expectShown(200, 210);
    page.take(bytesOf('about', [{ name: 'stopped', value: '211' }]));
    expectShown(100, 210);
  });

  it('stays whole where a task comes late that began a little sooner', () => {
    page.take(joined(idle(0), ran(0, 100, 110)));
    page.viewport.fit();
    page.take(ran(1, 99.9, 109));
    expectShown(0, 110);
    page.take(ran(2, 116, 120));
    expectShown(116, 120);
  });

  const cell = (execution: number, start: number, stop = Number.NaN): Uint8Array =>
    bytesOf('cells', [{ execution, code: 'x.compute()', start, stop }]);

  it('is the cell that runs once it is chosen, and what it took when it has ended', () => {
    page.take(joined(ran(0, 90, 99), cell(4, 100), ran(1, 101, 104)));
    page.viewport.show(95, 96);
    page.showCell(4);
    expect([page.cell, page.follow]).toEqual([4, true]);
    expectShown(100, 104);
    page.take(ran(2, 104, 130));
    expectShown(100, 130);
    page.take(joined(cell(4, 100, 131), cell(5, 140), ran(3, 141, 190)));
    expectShown(100, 131);
    page.selection.clear();
    expectShown(141, 190);
  });

  it('is not a chosen cell that somebody has zoomed into, or looks past', () => {
    page.take(joined(ran(0, 90, 99), cell(4, 100), ran(1, 101, 104)));
    page.showCell(4);
    page.viewport.show(102, 103);
    page.take(joined(ran(2, 104, 130), cell(4, 100, 131)));
    expectShown(102, 103);
    page.viewport.fit();
    page.take(ran(3, 131, 132));
    expectShown(90, 132);
  });

  it('leaves alone what a person has set', () => {
    page.take(ran(0, 100, 110));
    page.viewport.show(102, 103);
    page.take(ran(1, 200, 210));
    expectShown(102, 103);
    page.follow = true;
    expect(page.viewport.span).toBeCloseTo(1);
    expect(page.viewport.stop).toBeGreaterThanOrEqual(210);
  });
});

describe('another recording', () => {
  it('takes the place of the one shown when it has come as far', () => {
    page.take(joined(ran(0, 100, 101), ran(1, 101, 105)));
    page.viewport.show(102, 103);
    page.selection.set({ source: 'x', column: 'name', value: ['inc'] });
    page.reset();
    page.take(ran(0, 100, 101));
    expect(runs()).toEqual([0, 1]);
    page.take(joined(ran(1, 101, 105), ran(2, 105, 106)));
    expect(runs()).toEqual([0, 1, 2]);
    expect([page.viewport.start, page.viewport.stop]).toEqual([102, 103]);
    expect(page.selection.clauses).toHaveLength(1);
    expect(page.recording.generation).toBe(1);
  });

  it('leaves behind what was damaged of the one before, and tells what is of its own', () => {
    page.take(Uint8Array.of(0xc1, 1, 2));
    page.take(ran(0, 100, 101));
    page.reset();
    page.take(Uint8Array.of(0xc1, 1, 2));
    page.take(ran(1, 101, 105));
    expect([page.damages.length, runs()]).toEqual([1, [1]]);
  });

  const began = (started: number): Uint8Array =>
    bytesOf('about', [{ name: 'started', value: String(started) }]);

  /** A person has narrowed the panels to a cell and zoomed, and the session is sent or another one is. */
  function chosenThen(started: number): void {
    page.take(joined(began(99), ran(0, 100, 101), ran(1, 101, 105)));
    page.selection.set({ source: 'cells', column: 'cell', value: [2] });
    page.viewport.show(102, 103);
    page.reset();
    page.take(joined(began(started), ran(0, started + 1, started + 10)));
  }

  it('of the same session keeps what a person has chosen', () => {
    chosenThen(99);
    expect(page.cell).toBe(2);
    expect([page.viewport.start, page.viewport.stop]).toEqual([102, 103]);
  });

  it('of another session, as after a restart, begins without what was chosen before', () => {
    chosenThen(200);
    expect(runs()).toEqual([0]);
    expect(page.cell).toBeUndefined();
    expect(page.selection.canUndo).toBe(false);
    expect(page.follow).toBe(true);
    expect(page.viewport.start).toBe(201);
    expect(page.viewport.stop).toBeGreaterThanOrEqual(210);
  });

  it('of another session has its colours in the order of its names, whoever asks first', () => {
    const names = Array.from({ length: 60 }, (_, at) => `name-${at}`);
    const graph = bytesOf(
      'graph',
      names.map((prefix, task) => ({ task, key: prefix, prefix }))
    );
    // Its names come before it is told from the one before.
    page.take(joined(began(99), ran(0, 100, 101)));
    page.take(joined(graph, began(200)));
    const { colors, recording } = (page as unknown as { stage: Stage }).stage;
    const given = [...names].reverse().map(name => colors.slot(name));
    const fresh = new ColorRegistry();
    fresh.keep(recording.table('graph').symbols('prefix').names);
    expect(given.reverse()).toEqual(names.map(name => fresh.slot(name)));
  });

  it('of another session puts away the card of a task of the one before', () => {
    const place = host();
    page.mount('task-stream', place);
    const panel = place.querySelector('[role=application]');
    const pinned = (): number => document.querySelectorAll('.di-card.di-pinned:not([hidden])').length;
    page.take(joined(began(99), ran(0, 100, 101)));
    for (const key of ['Enter', 'Enter']) panel?.dispatchEvent(new KeyboardEvent('keydown', { key }));
    page.reset();
    page.take(joined(began(99), ran(0, 100, 101)));
    expect(pinned()).toBe(1);
    page.reset();
    page.take(joined(began(200), ran(0, 201, 210)));
    expect(pinned()).toBe(0);
  });

  it('of another session is told from the one before also where nothing of it came for a while', () => {
    vi.useFakeTimers();
    page.take(joined(began(99), ran(0, 100, 101)));
    page.selection.set({ source: 'cells', column: 'cell', value: [2] });
    page.reset();
    vi.runAllTimers();
    page.take(began(200));
    expect(page.selection.clauses).toHaveLength(0);
  });

  it('is shown as far as it has come when no more of it comes', () => {
    vi.useFakeTimers();
    page.take(joined(ran(0, 100, 101), ran(1, 101, 105)));
    page.reset();
    page.take(ran(0, 100, 101));
    vi.runAllTimers();
    expect(runs()).toEqual([0]);
  });

  it('is waited for while more of it is announced, and shown at once when it is whole', () => {
    vi.useFakeTimers();
    page.take(joined(ran(0, 100, 101), ran(1, 101, 105)));
    page.reset();
    page.take(ran(7, 100, 101), { more: true });
    vi.advanceTimersByTime(5000);
    expect(runs()).toEqual([0, 1]);
    page.take(ran(8, 101, 102), { more: false });
    expect(runs()).toEqual([7, 8]);
  });

  it('is not taken for whole by what was still being read of the one before', async () => {
    page.take(ran(0, 100, 105));
    let now = 0;
    vi.mocked(performance.now).mockImplementation(() => (now += 100));
    page.take(joined(ran(1, 105, 106), ran(2, 106, 107)), { more: false });
    page.reset();
    vi.mocked(performance.now).mockReturnValue(now);
    page.take(ran(7, 100, 101), { more: true });
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(runs()).toEqual([0]);
    page.take(ran(8, 101, 102), { more: false });
    await vi.waitFor(() => expect(runs()).toEqual([7, 8]));
  });

  it('leaves a page that is paused as it is, and is shown after that', () => {
    vi.useFakeTimers();
    page.take(joined(ran(0, 100, 101), ran(1, 101, 105)));
    page.reset();
    page.take(ran(7, 100, 101));
    page.paused = true;
    vi.runAllTimers();
    expect(runs()).toEqual([0, 1]);
    page.paused = false;
    vi.runAllTimers();
    expect(runs()).toEqual([7]);
  });

  it('of another session has its colours, whatever names there were before', () => {
    const slot = vi.spyOn(ColorRegistry.prototype, 'slot');
    const given = (): Map<string, unknown> =>
      new Map(slot.mock.calls.map(([name], at) => [name, slot.mock.results[at].value]));
    const named = (...prefixes: string[]): Uint8Array =>
      bytesOf(
        'graph',
        prefixes.map((prefix, task) => ({ task, key: `${prefix}-1`, prefix }))
      );
    const other = joined(began(200), named('inc', 'sum', 'load'), ran(0, 201, 202));
    const before = Array.from({ length: 30 }, (_, at) => `old-${at}`);
    page.take(joined(began(99), named(...before), ran(0, 100, 101)));
    slot.mockClear();
    page.reset();
    page.take(other);
    const after = given();
    expect(after.size).toBe(3);
    slot.mockClear();
    new LivePage().take(other);
    expect(after).toEqual(given());
  });

  it('that begins while the page is paused waits too', () => {
    page.take(ran(0, 100, 101));
    page.paused = true;
    page.take(ran(1, 101, 105));
    page.reset();
    page.take(ran(7, 200, 201));
    expect(runs()).toEqual([0]);
    page.paused = false;
    expect(runs()).toEqual([7]);
  });

  it('is where panels that were mounted before are drawn from', () => {
    const place = host();
    page.mount('functions', place);
    page.take(ran(0, 100, 101));
    page.reset();
    page.take(joined(ran(0, 100, 101), ran(1, 101, 102)));
    expect(place.querySelectorAll('.di-panel')).toHaveLength(1);
  });
});

describe('panels', () => {
  it('share what is selected, say where they stand, and leave nothing behind', () => {
    const place = host();
    const panel = page.mount('task-stream', place, { titled: false });
    expect([...place.classList]).toEqual(['di-page', 'di-live', 'di-untitled']);
    page.take(ran(0, 100, 101));
    page.selection.set({ source: 'x', column: 'name', value: ['inc'] });
    expect(place.querySelector('.di-chip')?.textContent).toBe('inc');
    panel.focus();
    expect(place.contains(document.activeElement)).toBe(true);
    panel.dispose();
    panel.dispose();
    expect(place.children).toHaveLength(0);
    expect(place.classList).toHaveLength(0);
    expect(document.querySelector('.di-card')).toBeNull();
  });

  it('listen to nothing once the page is gone', () => {
    const listening = new Set<unknown>();
    vi.stubGlobal('matchMedia', () => ({
      matches: false,
      addEventListener: (_: string, listener: unknown) => listening.add(listener),
      removeEventListener: (_: string, listener: unknown) => listening.delete(listener)
    }));
    const place = host();
    page.mount('task-stream', place);
    expect(listening.size).toBeGreaterThan(0);
    page.dispose();
    expect(listening.size).toBe(0);
    page.selection.set({ source: 'x', column: 'name', value: ['inc'] });
    place.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    expect(page.selection.clauses).toHaveLength(1);
    vi.unstubAllGlobals();
  });

  it('need nothing while the page is paused, and again what they show after that', () => {
    vi.stubGlobal(
      'ResizeObserver',
      class {
        constructor(private readonly callback: (entries: object[]) => void) {}
        observe(target: Element): void {
          this.callback([{ target, contentRect: { width: 100 } }]);
        }
        unobserve(): void {}
        disconnect(): void {}
      }
    );
    page = new LivePage();
    const { needs } = page;
    page.mount('critical-path', host());
    const told: (readonly string[])[] = [];
    needs.onChange(() => told.push(needs.tables));
    page.paused = true;
    page.paused = false;
    expect(told).toEqual([[], ['critical']]);
    vi.unstubAllGlobals();
  });

  it('that do not exist are refused with those that do', () => {
    expect(() => page.mount('tasks', host())).toThrow(/task-stream/);
  });

  it('explain their keys within themselves, and take that along when they go', () => {
    const place = host();
    const panel = page.mount('functions', place);
    panel.element.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
    expect(panel.element.querySelector('dialog')?.open).toBe(true);
    panel.dispose();
    expect(document.querySelector('dialog')).toBeNull();
  });

  it('take keys without the page around them', () => {
    const place = host();
    page.mount('functions', place);
    page.selection.set({ source: 'x', column: 'name', value: ['inc'] });
    place.firstElementChild?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(page.selection.clauses).toHaveLength(0);
  });
});

describe('cells', () => {
  const code = '# load\nx = da.ones(10)\nx.sum().compute()';

  it('are offered newest first, with words', () => {
    const told = vi.fn();
    page.onChange(told);
    page.take(
      joined(
        bytesOf('cells', [
          { execution: 4, cell: 'a', code, start: 100, status: 'running' },
          { execution: 5, cell: 'b', code: '1 / 0', start: 110, stop: 110.5, status: 'error' },
          { execution: 4, cell: 'a', code, start: 100, stop: 103.2, status: 'ok' }
        ]),
        bytesOf('submissions', [{ submission: 0, time: 101, tasks: 3, cell: 'a', execution: 4 }])
      )
    );
    expect(told).toHaveBeenCalled();
    expect(page.cells().map(({ words, hasTasks }) => [words, hasTasks])).toEqual([
      [`[5] 1 / 0 (500${THIN}ms, failed)`, false],
      [`[4] x = da.ones(10) (3.2${THIN}s)`, true]
    ]);
    expect(page.cells().map(({ execution }) => execution)).toEqual([5, 4]);
    // Each picker of a page asks at each batch.
    expect(page.cells()).toBe(page.cells());
  });

  it('take the place of one that was chosen elsewhere, as one step', () => {
    page.selection.set({ source: 'python', column: 'cell', value: [5] });
    page.selection.set({ source: 'time-budget', column: 'name', value: ['inc'] });
    expect(page.cell).toBe(5);
    page.showCell(7);
    expect(page.selection.filter()).toMatchObject({ cells: new Set([7]), names: new Set(['inc']) });
    page.selection.undo();
    expect(page.cell).toBe(5);
    page.showCell(undefined);
    expect(page.selection.filter().cells).toBeUndefined();
    page.selection.set({ source: 'time-budget', column: 'cell', value: [5, 7] });
    expect(page.cell).toBeUndefined();
  });

  it('can be shown and left', () => {
    page.take(joined(ran(0, 90, 120), bytesOf('cells', [{ execution: 4, start: 100, stop: 110 }])));
    page.showCell(4);
    expect(page.cell).toBe(4);
    expect(page.viewport.start).toBeCloseTo(99.8);
    expect(page.viewport.stop).toBeCloseTo(110.2);
    expect(page.follow).toBe(false);
    page.showCell(undefined);
    expect(page.cell).toBeUndefined();
    expect(page.viewport.fitted).toBe(true);
  });

  it('leave with them the time that was shown for them, unless a person has zoomed in it', () => {
    const cells = [4, 5].map(execution => ({ execution, start: execution * 10, stop: execution * 10 + 5 }));
    page.take(joined(ran(0, 30, 90), bytesOf('cells', cells)));
    const shown = () => [page.cell, Math.round(page.viewport.start), page.follow];
    page.showCell(4);
    page.selection.escape();
    expect(shown()).toEqual([undefined, 30, true]);
    page.showCell(4);
    page.showCell(5);
    page.selection.set({ source: 'time-budget', column: 'name', value: ['inc'] });
    expect(shown()).toEqual([5, 50, false]);
    page.selection.undo();
    page.selection.undo();
    expect(shown()).toEqual([4, 40, false]);
    page.viewport.show(41, 42);
    page.selection.escape();
    expect(shown()).toEqual([undefined, 41, false]);
  });
});
