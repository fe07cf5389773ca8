import { describe, expect, test } from 'vitest';
import { BatchError, type PackedColumn } from './batch';
import { Recording } from './recording';
import { batchOf, type Row, recordingOf } from './test-recording';

describe('Recording', () => {
  test('columns grow over batches, each with its own symbols', () => {
    const recording = recordingOf({ attempts: [{ run: 1, status: 'ok', start: 10 }] });
    recording.take(
      batchOf('attempts', [
        { run: 2, status: 'erred', start: 11 },
        { run: 3, status: 'ok', start: 12 }
      ])
    );
    const attempts = recording.table('attempts');
    expect(attempts.rows).toBe(3);
    expect([...attempts.numbers('run')]).toEqual([1, 2, 3]);
    expect([...attempts.times('start')]).toEqual([10, 11, 12]);
    const { codes, names, find } = attempts.symbols('status');
    expect([...codes].map(code => names[code])).toEqual(['ok', 'erred', 'ok']);
    expect(find('erred')).toBe(1);
    expect(find('killed')).toBe(-1);
  });

  test('a column that some or all batches lack reads as missing', () => {
    const recording = recordingOf({ graph: [{ task: 1 }] });
    recording.take(batchOf('graph', [{ task: 2, key: 'x-1', prefix: 'x', order: 7 }]));
    const graph = recording.table('graph');
    expect(graph.text('key', 0)).toBe('');
    expect(graph.text('key', 1)).toBe('x-1');
    expect(graph.text('prefix', 0)).toBe('');
    expect([...graph.numbers('order')]).toEqual([0, 7]);
    expect(graph.text('state', 1)).toBe('');
    expect(graph.has('state')).toBe(false);
    expect(graph.has('order')).toBe(true);
  });

  test('a part of a run begins and ends with that part, not with what ran beyond it', () => {
    const about = {
      about: [
        { name: 'since', value: '105' },
        { name: 'until', value: '110' }
      ]
    };
    const part = recordingOf({
      attempts: [
        { run: 1, start: 102, stop: 108 },
        { run: 2, start: 109, stop: 119 }
      ],
      ...about
    });
    expect([part.begin, part.end]).toEqual([105, 110]);
  });

  test('unknown tables, columns and kinds are skipped', () => {
    const recording = new Recording();
    const wrong: PackedColumn = { kind: 'f64', size: 8, read: () => expect.unreachable() };
    recording.take({ table: 'quantum', rows: 5, columns: new Map() });
    recording.take({ table: 'toString', rows: 1, columns: new Map() });
    recording.take({
      table: 'edges',
      rows: 1,
      columns: new Map([
        ['task', wrong],
        ['weight', wrong]
      ])
    });
    expect(recording.table('edges').rows).toBe(1);
    expect(recording.table('edges').has('task')).toBe(false);
  });

  test('a small table is read row by row, what is missing as such', () => {
    const recording = recordingOf({ workers: [{ worker: 'a', name: '0', threads: 2, joined: 5 }] });
    recording.take(batchOf('workers', [{ worker: 'b', host: 'here', pid: 7 }]));
    const [a, b] = recording.table('workers').all();
    expect(a).toMatchObject({ worker: 'a', name: '0', host: '', pid: 0, threads: 2, joined: 5 });
    expect(b).toMatchObject({ worker: 'b', name: '', host: 'here', pid: 7, threads: 0 });
    expect([a.left, a.memory_limit, b.joined]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(recording.table('spans').all()).toEqual([]);
  });

  test('columns that nobody reads do not wait in many small pieces', () => {
    const recording = new Recording();
    const rows = Array.from({ length: 10 }, (_, row) => ({ process: `p${row}`, time: row, cpu: row }));
    for (let batch = 0; batch < 1000; batch++) recording.take(batchOf('resources', rows));
    const table = recording.table('resources');
    const { waiting } = table as unknown as { waiting: Map<string, unknown[]> };
    for (const pieces of waiting.values()) expect(pieces.length).toBeLessThanOrEqual(64);
    expect(table.numbers('cpu')[9999]).toBe(9);
    expect(table.text('process', 9998)).toBe('p8');
    expect(table.rows).toBe(10000);
  });

  test('its time runs from where it started to the last thing that happened', () => {
    const recording = recordingOf({ workers: [{ worker: 'a', joined: 5 }] });
    expect(recording.origin).toBe(0);
    recording.take(batchOf('attempts', [{ run: 1, start: 102, stop: 110, done: 111, submitted: 90 }]));
    expect([recording.origin, recording.end]).toEqual([102, 111]);
    recording.take(batchOf('about', [{ name: 'started', value: '100.5' }]));
    expect(recording.origin).toBe(100.5);
    expect(recording.about('started')).toBe(100.5);
  });

  test('tells of arrivals until stopped', () => {
    const recording = new Recording();
    const seen: string[] = [];
    const stop = recording.onAppend(({ table, from, to }) => seen.push(`${table} ${from} ${to}`));
    recording.take(batchOf('edges', [{ task: 1, dependency: 0 }]));
    recording.take(batchOf('edges', [{ task: 2, dependency: 0 }]));
    stop();
    recording.take(batchOf('edges', [{ task: 3, dependency: 0 }]));
    expect(seen).toEqual(['edges 0 1', 'edges 1 2']);
  });

  test('columns may come after their rows, also when they were read as missing before', () => {
    const rows = [{ task: 1 }, { task: 2 }, { task: 3 }];
    const damages: string[] = [];
    const recording = new Recording(words => damages.push(words));
    for (const part of [rows.slice(0, 1), rows.slice(1)]) recording.take(batchOf('graph', part));
    const graph = recording.table('graph');
    expect([graph.text('key', 2), graph.text('span', 2), graph.numbers('order')[2]]).toEqual(['', '', 0]);
    const late = (from: number, row: Row): void => recording.take({ ...batchOf('graph', [row]), from });
    late(0, { key: 'a', span: 's', order: 5 });
    late(2, { key: 'c', span: 't', order: 7 });
    expect([0, 1, 2].map(row => graph.text('key', row))).toEqual(['a', '', 'c']);
    expect([0, 1, 2].map(row => graph.text('span', row))).toEqual(['s', '', 't']);
    expect([...graph.numbers('order')]).toEqual([5, 0, 7]);
    expect(graph.rows).toBe(3);
    late(1, { key: 'again' });
    expect(graph.text('key', 2)).toBe('c');
    expect(damages).toEqual(['graph.key: rows from 1 came twice']);
  });

  test('rows far behind those that are there are left aside: nobody makes room for them', () => {
    const recording = recordingOf({ graph: [{ task: 1 }] });
    recording.take({ ...batchOf('graph', [{ task: 2 }]), from: 2 ** 32 - 1 });
    expect([...recording.table('graph').numbers('task')]).toEqual([1]);
  });

  test('times that come later count from those of their rows; damaged ones do not wait for each other', () => {
    const damages: string[] = [];
    const recording = new Recording(words => damages.push(words));
    const rows = [
      { run: 1, stop: 5 },
      { run: 2, stop: 7 }
    ];
    recording.take(batchOf('attempts', rows));
    const since = (other: string): PackedColumn => ({
      kind: 'time',
      size: 0,
      read: earlier => {
        const from = earlier?.(other);
        if (!from) throw new BatchError(`no ${other}`);
        return { kind: 'time', values: from.map(time => time + 1) };
      }
    });
    const columns = new Map([
      ['done', since('stop')],
      ['assigned', since('ready')],
      ['ready', since('assigned')],
      ['submitted', since('run')]
    ]);
    recording.take({ table: 'attempts', rows: 1, from: 1, columns });
    const attempts = recording.table('attempts');
    expect([...attempts.times('done')]).toEqual([Number.NaN, 8]);
    for (const name of ['assigned', 'ready', 'submitted'] as const) expect(attempts.times(name)[1]).toBeNaN();
    expect(damages).toEqual(['attempts.ready: no assigned', 'attempts.submitted: no run']);
  });

  test('a recording that tells its extent is believed', () => {
    const recording = recordingOf({ attempts: [{ run: 1, start: 102, stop: 110 }] });
    recording.take(batchOf('about', [{ name: 'extent', value: '[101, 120]' }]));
    expect([recording.origin, recording.end]).toEqual([101, 120]);
    recording.take(batchOf('attempts', [{ run: 2, start: 103, stop: 111 }]));
    expect([recording.origin, recording.end]).toEqual([101, 120]);
    const wrong = recordingOf({
      about: [{ name: 'extent', value: '[9, "x"]' }],
      attempts: [{ run: 1, start: 3 }]
    });
    expect([wrong.origin, wrong.end]).toEqual([3, 3]);
  });

  test('a damaged column reads as missing, and is named', () => {
    const damages: string[] = [];
    const recording = new Recording(words => damages.push(words));
    recording.take(batchOf('edges', [{ task: 1, dependency: 0 }]));
    const torn: PackedColumn = {
      kind: 'u32',
      size: 4,
      read: () => {
        throw new BatchError('torn');
      }
    };
    recording.take({ table: 'edges', rows: 2, columns: new Map([['task', torn]]) });
    const edges = recording.table('edges');
    expect([...edges.numbers('task')]).toEqual([1, 0, 0]);
    expect(damages).toEqual(['edges.task: torn']);
  });

  test('of a table that is worked out again and again only the last edition is there', () => {
    const recording = recordingOf({ budget: [{ worker: 'a', threads: 1, edition: 1 }] });
    const told: unknown[] = [];
    recording.onAppend(({ from, to }) => told.push([from, to]));
    const workers = (): string[] => {
      const { codes, names } = recording.table('budget').symbols('worker');
      return [...codes].map(code => names[code]);
    };
    expect(workers()).toEqual(['a']);
    const states = [recording.state('budget')];
    const take = (...rows: Row[]): void => {
      recording.take(batchOf('budget', rows));
      states.push(recording.state('budget'));
    };
    take({ worker: 'b', edition: 3 });
    expect(workers()).toEqual(['b']);
    take({ worker: 'late', edition: 2 });
    expect(workers()).toEqual(['b']);
    states.pop();
    take({ worker: 'c', edition: 3 });
    expect(workers()).toEqual(['b', 'c']);
    take();
    expect(workers()).toEqual([]);
    take({ worker: 'd', edition: 4 });
    expect(workers()).toEqual(['d']);
    expect(new Set(states).size).toBe(states.length);
    expect(told).toEqual([
      [0, 1],
      [1, 2],
      [0, 0],
      [0, 1]
    ]);
  });

  test('what is known to repeat was once kept as if it did not', () => {
    const recording = new Recording();
    const texts = ['line 1', 'line 2', 'line 1'];
    const traceback: PackedColumn = {
      kind: 'str',
      size: 3,
      read: () => ({ kind: 'str', length: 3, text: row => texts[row] })
    };
    recording.take({ table: 'errors', rows: 3, columns: new Map([['traceback', traceback]]) });
    const { codes, names } = recording.table('errors').symbols('traceback');
    expect([...codes].map(code => names[code])).toEqual(texts);
    expect(names).toEqual(['line 1', 'line 2']);
  });

  test('a table that was worked out once needs no editions', () => {
    const recording = recordingOf({ critical: [{ kind: 'compute' }] });
    recording.take(batchOf('critical', [{ kind: 'client' }]));
    expect(recording.table('critical').rows).toBe(2);
    recording.take({ ...batchOf('critical', [{ worker: 'a' }]), from: 1 });
    expect(recording.table('critical').text('worker', 1)).toBe('a');
  });
});
