import { describe, expect, it } from 'vitest';
import { Bursts } from './bursts';
import type { Recording } from './recording';
import { stretchesOf, stretchKind } from './stretches';
import { Tasks } from './tasks';
import { batchOf, type Row, recordingOf } from './test-recording';

const ran = (run: number, start: number, stop: number): Row => ({
  run,
  task: run,
  worker: 'w',
  thread: 't',
  status: 'ok',
  start,
  stop
});

const PAUSED = { attempts: [ran(0, 10, 11), ran(1, 11, 13), ran(2, 20, 24)] };

function told(recording: Recording): [kind: string | undefined, ...string[]] {
  const tasks = new Tasks(recording);
  const bursts = new Bursts(tasks);
  const kind = stretchKind(tasks, bursts);
  const found = kind ? stretchesOf(kind, tasks, bursts) : [];
  return [kind, ...found.map(({ label, start, stop }) => `${label}: ${start}-${stop}`)];
}

describe('the runs of a recording', () => {
  it('are parted by pauses, where nobody has named any', () => {
    expect(told(recordingOf({ attempts: [ran(0, 10, 11), ran(1, 11, 13)] }))).toEqual([undefined]);
    expect(told(recordingOf(PAUSED))).toEqual(['pauses', 'at 0 s: 10-13', 'at 10 s: 20-24'].map(thin));
  });

  it('are the outermost spans, where a person has entered several', () => {
    const recording = recordingOf({
      ...PAUSED,
      spans: [
        { span: 'a', name: 'load', path: 'load' },
        { span: 'b', name: 'part', parent: 'a', path: 'load / part' },
        { span: 'c', name: 'load', path: 'load' },
        { span: 'd', name: 'default', path: 'default' }
      ],
      graph: [
        { task: 0, prefix: 'x', span: 'a' },
        { task: 1, prefix: 'x', span: 'b' },
        { task: 2, prefix: 'x', span: 'c' }
      ]
    });
    expect(told(recording)).toEqual(['spans', 'load: 10-13', 'load (2): 20-24']);
  });

  it('are notebook cells before all else, if they handed in tasks', () => {
    const recording = recordingOf({
      ...PAUSED,
      cells: [
        { execution: 7, code: '%%time\nx.sum().compute()\n', start: 9, stop: 14 },
        { execution: 8, code: 'import os', start: 15, stop: 15.1 },
        { execution: 9, code: 'y.compute()', start: 19 }
      ],
      submissions: [{ submission: 0, tasks: 2, execution: 7 }]
    });
    expect(told(recording)[0]).toBe('pauses');
    recording.take(batchOf('submissions', [{ submission: 1, tasks: 1, execution: 9 }]));
    expect(told(recording)).toEqual(['cells', '[7] x.sum().compute(): 9-14', '[9] y.compute(): 19-24']);
  });
});

/** Units stand after a thin space. */
function thin(text: string): string {
  return text.replace(' s:', '\u2009s:');
}
