import { expect, test, vi } from 'vitest';
import { type Recording, Table } from '../../core/recording';
import { batchOf, recordingOf } from '../../core/test-recording';
import type { PanelContext } from '../panel';
import { createStage } from '../stage';
import { absentWords, ResourceFigures } from './figures';
import type { Measure } from './measures';
import { measureMenu } from './menu';

const figuresOf = (recording: Recording): ResourceFigures =>
  new ResourceFigures(createStage(recording) as PanelContext);

const there = (figures: ResourceFigures): Measure[] => figures.measures.filter(each => figures.has(each));

test('the workers are looked at as soon as there are any, unless a person chose otherwise', () => {
  const recording = recordingOf({ resources: [{ process: 'scheduler', time: 1, cpu: 5 }] });
  const figures = figuresOf(recording);
  const asked = figuresOf(recording);
  figures.read();
  asked.read();
  expect([figures.chosenGroup, figures.series.resources.names]).toEqual(['scheduler', ['scheduler']]);

  asked.chosenGroup = 'scheduler';
  recording.take(batchOf('resources', [{ process: 'tcp://a', time: 2, cpu: 50 }]));
  figures.read();
  asked.read();
  expect([figures.chosenGroup, figures.series.resources.names]).toEqual(['workers', ['tcp://a']]);
  expect(asked.chosenGroup).toBe('scheduler');
});

test('what was recorded of other processes only is not there', () => {
  const resources = [
    { process: 'scheduler', time: 1, cpu: 5, net_read: 100 },
    { process: 'tcp://a', time: 1, cpu: 50, net_read: Number.NaN }
  ];
  const figures = figuresOf(recordingOf({ resources }));
  figures.read();
  expect(there(figures).map(({ id }) => id)).toEqual(['cpu', 'total-cpu']);
  figures.chosenGroup = 'scheduler';
  figures.read();
  expect(there(figures).map(({ id }) => id)).toEqual(['cpu', 'total-cpu', 'network']);
});

test('the scheduler counts tasks by states of its own', () => {
  const counts = { time: 1, executing: 50, ready: 3, waiting: 0 };
  const resources = ['scheduler', 'tcp://a'].map(process => ({ process, ...counts }));
  const figures = figuresOf(recordingOf({ resources }));
  const labels = (): string[] => {
    figures.read();
    return there(figures).flatMap(({ columns }) => columns.map(({ label }) => label));
  };
  expect(labels()).toEqual(['executing', 'ready', 'waiting']);
  figures.chosenGroup = 'scheduler';
  expect(labels()).toEqual(['processing', 'queued', 'no worker']);
  expect(absentWords(figures)).not.toContain('Tasks');
});

test('what is missing is told with why, all of one reason at once', () => {
  const recording = recordingOf({ resources: [{ process: 'tcp://a', time: 1, cpu: 5, lag: 0.1 }] });
  const figures = figuresOf(recording);
  figures.read();
  expect(absentWords(figures)).toBe(
    'Tasks, Network, Disk: not recorded here. GPU, GPU memory: no NVML on these workers.'
  );
});

test.each([
  [97, 100],
  [330, 400],
  [57, 57],
  [105, 105]
])('an axis whose largest share is %d goes up to %d', (cpu, most) => {
  const recording = recordingOf({ resources: [{ process: 'tcp://a', time: 1, cpu }] });
  const figures = figuresOf(recording);
  figures.read();
  expect(figures.mostOf(there(figures)[0])).toBe(most);
});

test('an idle GPU does not fill its axis', () => {
  const gpus = [{ process: 'tcp://a', index: 0, time: 1, utilization: 7, memory: 5 }];
  const figures = figuresOf(recordingOf({ gpus }));
  figures.read();
  expect(there(figures).map(measure => [measure.id, figures.mostOf(measure)])).toEqual([
    ['gpu', 100],
    ['gpu-memory', 5]
  ]);
});

test('where too few samples came for a figure, it is said how more would', () => {
  const resources = [{ process: 'tcp://a', time: 1, cpu: Number.NaN }];
  const figures = figuresOf(recordingOf({ resources }));
  figures.read();
  expect(absentWords(figures)).toMatch(/^No samples of these processes\. .* `--resources 50ms`/);
});

test('nobody looks for GPUs but at workers; of others those are shown that are there', () => {
  const resources = ['tcp://a', 'scheduler'].map(process => ({ process, time: 1, cpu: 5 }));
  const recording = recordingOf({ resources });
  const figures = figuresOf(recording);
  const shown = new Set<string>();
  const said = (): boolean[] => {
    figures.read();
    const menu = measureMenu(figures, shown, () => {}) as HTMLDetailsElement;
    menu.open = true;
    menu.dispatchEvent(new Event('toggle'));
    return [absentWords(figures), menu.textContent].map(words => words.includes('GPU'));
  };
  expect(said()).toEqual([true, true]);
  figures.chosenGroup = 'scheduler';
  expect(said()).toEqual([false, false]);
  recording.take(batchOf('gpus', [{ process: 'scheduler', index: 0, time: 1, utilization: 5 }]));
  expect(said()).toEqual([false, true]);
});

test('of what comes while a run goes on each row is looked at a few times, of what was there none', () => {
  const sample = (process: number, time: number) => ({
    process: `tcp://${process}`,
    time,
    cpu: time === 500 && process === 7 ? 90 : 50,
    executing: 1,
    ready: 2,
    waiting: 0
  });
  const of = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => from + at).flatMap(time =>
      Array.from({ length: 10 }, (_, process) => sample(process, time))
    );
  const recording = recordingOf({ resources: of(0, 1000) });
  const figures = figuresOf(recording);
  const mosts = (of: ResourceFigures): number[] => {
    of.read();
    return there(of).flatMap(measure => (measure.usual ? of.mostOf(measure) : []));
  };
  expect(mosts(figures)).toEqual([100, 30]);
  recording.take(batchOf('resources', of(1000, 1001)));
  let reads = 0;
  const counted = <T extends object>(values: T): T =>
    new Proxy(values, {
      get: (own, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads++;
        const value = Reflect.get(own, name, own);
        return typeof value === 'function' ? value.bind(own) : value;
      }
    });
  const { numbers, times, symbols } = Table.prototype;
  vi.spyOn(Table.prototype, 'numbers').mockImplementation(function (this: Table, column) {
    return counted(numbers.call(this, column));
  });
  vi.spyOn(Table.prototype, 'times').mockImplementation(function (this: Table, column) {
    return counted(times.call(this, column));
  });
  vi.spyOn(Table.prototype, 'symbols').mockImplementation(function (this: Table, column) {
    const read = symbols.call(this, column);
    return { ...read, codes: counted(read.codes) };
  });
  expect(mosts(figures)).toEqual([100, 30]);
  vi.restoreAllMocks();
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(1000);
  const anew = figuresOf(recording);
  expect(mosts(anew)).toEqual(mosts(figures));
  expect(anew.series.resources).toEqual(figures.series.resources);
});

test('layers are of those chosen, even if there is nothing of them; of the scheduler a choice of workers tells none', () => {
  const resources = ['scheduler', 'tcp://a', 'tcp://b'].map(process => ({ process, time: 1, executing: 1 }));
  const stage = createStage(recordingOf({ resources }));
  const figures = new ResourceFigures(stage as PanelContext);
  const summed = (): number => {
    figures.read();
    return figures.summed(figures.series.resources).length;
  };
  expect(summed()).toBe(2);
  stage.selection.set({ source: 'x', column: 'worker', value: ['tcp://c'] });
  expect(summed()).toBe(0);
  figures.chosenGroup = 'scheduler';
  expect(summed()).toBe(1);
});
