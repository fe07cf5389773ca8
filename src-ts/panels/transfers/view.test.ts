import { expect, test, vi } from 'vitest';
import { Tasks } from '../../core/tasks';
import { batchOf, recordingOf } from '../../core/test-recording';
import type { Pen } from '../../draw/pen';
import { Surface } from '../../draw/surface';
import { createStage } from '../stage';
import { transfers } from '../transfers';
import { squareOf } from './square';

const flow = (from: string, to: string, nbytes: number) => ({ from, to, transfers: 1, nbytes, seconds: 2 });

test('workers share lines where there are more than have room, and nothing is lost', () => {
  const many = Array.from({ length: 300 }, (_, at) => flow(`tcp://w:${at}`, `tcp://w:${(at + 1) % 300}`, 10));
  const tasks = new Tasks(recordingOf({}));
  const square = squareOf([...many, flow('tcp://w:0', '', 5)], tasks, 90);
  expect(square.senders.length).toBeLessThanOrEqual(90);
  expect(square.receivers.at(-1)).toEqual({ label: 'clients', workers: [] });
  expect(square.cells.reduce((sum, each) => sum + (each?.nbytes ?? 0), 0)).toBe(3005);
  expect(square.senders[0]).toMatchObject({ label: 'w:0 … w:3' });
  const numbered = recordingOf({
    workers: Array.from({ length: 10 }, (_, at) => ({ worker: `tcp://w:${at}`, name: String(at) }))
  });
  const few = squareOf(many.slice(0, 9), new Tasks(numbered), 5);
  expect(few.receivers.map(({ label }) => label)).toEqual([
    'workers 0–2',
    'workers 3–5',
    'workers 6–8',
    'worker 9'
  ]);
  expect(squareOf([flow('a', 'b', 1)], tasks, 90).receivers.map(({ label }) => label)).toEqual(['a', 'b']);
});

test('a cell tells who sent to whom, and chooses both; a bar chooses what was sent', () => {
  const recording = recordingOf({
    workers: [
      { worker: 'a', name: '0', threads: 1, left: Number.NaN },
      { worker: 'b', name: '1', threads: 1, left: Number.NaN }
    ],
    graph: [{ task: 1, prefix: 'load' }],
    transfers: [
      { transfer: 1, worker: 'b', peer: 'a', direction: 'in', start: 1, stop: 3, nbytes: 2048 },
      { transfer: 2, worker: 'a', peer: '', direction: 'out', start: 4, stop: 5, nbytes: 10 }
    ],
    transferred: [{ transfer: 1, task: 1, nbytes: 2048 }],
    metrics: [
      {
        time: 2,
        worker: 'a',
        context: 'p2p',
        activity: 'background-comms process',
        unit: 'bytes',
        value: 4096
      },
      { time: 2, worker: 'a', context: 'p2p', activity: 'background-disk process', unit: 'bytes', value: 9 }
    ]
  });
  const stage = createStage(recording);
  const surface = new Surface();
  surface.width = 500;
  surface.height = 300;
  const view = transfers.create({ ...stage, surface, say: () => {} });
  expect(view.empty()).toBeUndefined();
  view.layout();
  expect(view.above?.textContent).toContain('P2P shuffles sent 4\u2009KiB besides');
  const cell = view.move?.(undefined, 'first');
  expect(cell?.words()).toBe('worker 0 → worker 1: 2\u2009KiB in 1 transfer');
  const { x, y, width, height } = cell?.box ?? { x: 0, y: 0, width: 0, height: 0 };
  expect(view.pick?.(x + width / 2, y + height / 2)?.id).toBe(cell?.id);
  view.choose?.(cell, { additive: false });
  expect(stage.selection.own('transfers', 'worker')).toEqual(['a', 'b']);
  view.choose?.(cell, { additive: false });
  expect(stage.selection.clauses).toEqual([]);
  const bar = view.move?.(cell, 'last');
  expect(bar?.words()).toBe('load: 2\u2009KiB in 1 result');
  view.choose?.(bar, { additive: false });
  expect(stage.selection.own('transfers', 'name')).toEqual(['load']);
  expect(view.rows?.().row(1).slice(0, 4)).toEqual(['worker 0', 'clients', '1', '10\u2009B']);
  expect(
    view
      .rows?.()
      .columns.map(({ unit }) => unit)
      .slice(3)
  ).toEqual(['B', 's', 'B/s']);
});

test('who sent is unknown where nobody told, and that is no client', () => {
  const got = { transfer: 1, worker: 'a', peer: '', direction: 'in', start: 1, stop: 3, nbytes: 2048 };
  const surface = new Surface();
  surface.width = 500;
  const stage = createStage(recordingOf({ transfers: [got] }));
  const view = transfers.create({ ...stage, surface, say: () => {} });
  view.layout();
  expect(view.rows?.().row(0).slice(0, 2)).toEqual(['unknown', 'a']);
  expect(view.above?.textContent).toContain('in 1 transfer between workers');
  expect(view.above?.textContent).not.toContain('to clients');
});

test('without a transfer it tells of local schedulers where one of them ran', () => {
  const words = (worker: string): string | undefined => {
    const attempts = [{ run: 1, worker, thread: '1', status: 'ok', start: 1, stop: 2, done: 2 }];
    const stage = createStage(recordingOf({ attempts }));
    return transfers.create({ ...stage, surface: new Surface(), say: () => {} }).empty();
  };
  expect(words('tcp://10.0.0.1:40001')).toBe('No worker has sent a result to another one.');
  expect(words('threads')).toContain('local scheduler');
});

test('what is pointed at stays the same when others come before it', () => {
  const sent = (transfer: number, peer: string, worker: string, nbytes: number) => ({
    transfers: [{ transfer, worker, peer, direction: 'in', start: 1, stop: 3, nbytes }],
    transferred: [{ transfer, task: transfer, nbytes }]
  });
  const graph = [
    { task: 1, prefix: 'load' },
    { task: 2, prefix: 'scan' }
  ];
  const stage = createStage(recordingOf({ graph, ...sent(1, 'c', 'd', 10) }));
  const view = transfers.create({ ...stage, surface: new Surface(), say: () => {} });
  view.layout();
  const cell = view.move?.(undefined, 'first');
  const bar = view.move?.(cell, 'last');
  for (const [table, rows] of Object.entries(sent(2, 'a', 'b', 1000))) {
    stage.recording.take(batchOf(table as 'transfers', rows));
  }
  view.layout();
  const now = view.move?.(view.move?.(undefined, 'first'), 'right');
  expect(now?.id).toBe(cell?.id);
  for (const [mark, place] of [
    [cell, now],
    [bar, view.move?.(cell, 'last')]
  ]) {
    const strokeRect = vi.fn();
    view.drawOverlay?.({ strokeRect } as unknown as Pen, mark);
    expect(strokeRect.mock.lastCall?.[1]).toBe((place?.box.y ?? 0) + 0.5);
  }
  view.choose?.(bar, { additive: false });
  expect(stage.selection.own('transfers', 'name')).toEqual(['load']);
  view.choose?.(cell, { additive: false });
  expect(stage.selection.own('transfers', 'worker')).toEqual(['c', 'd']);
});
