import { describe, expect, it } from 'vitest';
import { clausesOf, type Finding, findingsOf } from './findings';
import { Recording } from './recording';
import { Tasks } from './tasks';
import { batchOf, type Row, recordingOf } from './test-recording';

const row = (more: Row = {}): Row => ({
  code: 'tiny-tasks',
  severity: 'warning',
  title: 'too small',
  why: 'because',
  advice: 'do this',
  url: 'https://docs.dask.org/',
  tasks: '["inc", "dec"]',
  workers: '["a"]',
  start: 2,
  stop: 5,
  cost_thread_seconds: 4,
  cost_seconds: 1,
  evidence: '[["mean", 0.01, "s", 0.1], ["count", null, "count", null]]',
  ...more
});

const only = (more: Row): Finding | undefined => findingsOf(recordingOf({ findings: [row(more)] }))?.list[0];

describe('findings', () => {
  it('are read in their order', () => {
    const found = findingsOf(
      recordingOf({ findings: [row(), row({ code: 'spill', severity: 'critical' })] })
    );
    expect(found?.list.map(({ code, severity }) => [code, severity])).toEqual([
      ['tiny-tasks', 'warning'],
      ['spill', 'critical']
    ]);
    expect(found?.list[0]).toMatchObject({
      tasks: ['inc', 'dec'],
      workers: ['a'],
      start: 2,
      stop: 5,
      seconds: 1,
      threadSeconds: 4,
      evidence: [
        { name: 'mean', value: 0.01, unit: 's', threshold: 0.1 },
        { name: 'count', value: Number.NaN, unit: 'count', threshold: undefined }
      ]
    });
  });

  it('are not there, or there are none: that differs', () => {
    expect(findingsOf(new Recording())).toBeUndefined();
    expect(findingsOf(recordingOf({ findings: [row({ code: '', severity: '' })] }))).toEqual({
      list: [],
      gaps: []
    });
    const empty = new Recording();
    empty.take({ ...batchOf('findings', [row()]), rows: 0 });
    expect(findingsOf(empty)?.list).toEqual([]);
  });

  it('tell of rules that failed', () => {
    const found = findingsOf(
      recordingOf({ findings: [row({ severity: 'gap', code: 'spill', why: 'KeyError' })] })
    );
    expect(found).toEqual({ list: [], gaps: [{ rule: 'spill', why: 'KeyError' }] });
  });

  it('survive what is none', () => {
    expect(only({ tasks: '{"a":', workers: '[1, "b"]', evidence: '[["x"], 3, [7]]' })).toMatchObject({
      tasks: [],
      workers: ['b'],
      evidence: [{ name: 'x', value: Number.NaN, unit: '', threshold: undefined }]
    });
    expect(only({ severity: 'dreadful' })?.severity).toBe('info');
    for (const url of ['javascript:alert(1)', ' https://x', 'data:text/html,x', 'ftp://x']) {
      expect(only({ url })?.url).toBe('');
    }
  });
});

describe('choosing a finding', () => {
  const finding = only({}) as Finding;
  const workers = new Set(['a', 'b']);
  const run = { start: 0, stop: 10 };
  const ran = (start: number, stop: number) => ({
    run: 1,
    task: 1,
    worker: 'a',
    thread: '1',
    status: 'ok',
    start,
    stop
  });
  const tasksOf = (...attempts: Row[]): Tasks =>
    new Tasks(recordingOf({ graph: [{ task: 1, key: 'inc-1', prefix: 'inc' }], attempts }));
  const tasks = tasksOf(ran(1, 3));

  it('narrows its names, its workers and its time', () => {
    expect(clausesOf(finding, 'x', tasks, workers, run)).toEqual([
      { source: 'x', column: 'name', value: ['inc', 'dec'] },
      { source: 'x', column: 'worker', value: ['a'] },
      { source: 'x', column: 'time', value: { start: 2, stop: 5 } }
    ]);
  });

  it('narrows no names where none of them ran in its time: a pause before them', () => {
    const columns = (attempts: Row[]): string[] =>
      clausesOf(finding, 'x', tasksOf(...attempts), workers, run).map(({ column }) => column);
    expect(columns([ran(0, 2), ran(5, 6)])).toEqual(['worker', 'time']);
    expect(columns([ran(0, 2), ran(4, 6)])).toEqual(['name', 'worker', 'time']);
  });

  it('narrows nothing to all there is', () => {
    expect(clausesOf(finding, 'x', tasks, new Set(['a']), { start: 2, stop: 5 })).toEqual([
      { source: 'x', column: 'name', value: ['inc', 'dec'] }
    ]);
    const whole = { ...finding, tasks: [], start: Number.NaN, stop: Number.NaN };
    expect(clausesOf(whole, 'x', tasks, new Set(['a']), run)).toEqual([]);
  });
});
