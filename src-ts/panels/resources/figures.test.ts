import { expect, test } from 'vitest';
import { batchOf, recordingOf } from '../../core/test-recording';
import type { PanelContext } from '../panel';
import { absentWords, ResourceFigures } from './figures';
import { measureMenu } from './menu';

test('the workers are looked at as soon as there are any, unless a person chose otherwise', () => {
  const recording = recordingOf({ resources: [{ process: 'scheduler', time: 1, cpu: 5 }] });
  const figures = new ResourceFigures({ recording } as PanelContext);
  const asked = new ResourceFigures({ recording } as PanelContext);
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
  const figures = new ResourceFigures({ recording: recordingOf({ resources }) } as PanelContext);
  figures.read();
  expect(figures.there.map(({ id }) => id)).toEqual(['cpu']);
  figures.chosenGroup = 'scheduler';
  figures.read();
  expect(figures.there.map(({ id }) => id)).toEqual(['cpu', 'network']);
});

test('the scheduler counts tasks by states of its own', () => {
  const counts = { time: 1, executing: 50, ready: 3, waiting: 0 };
  const resources = ['scheduler', 'tcp://a'].map(process => ({ process, ...counts }));
  const figures = new ResourceFigures({ recording: recordingOf({ resources }) } as PanelContext);
  const labels = (): string[] => {
    figures.read();
    return figures.there.flatMap(({ columns }) => columns.map(({ label }) => label));
  };
  expect(labels()).toEqual(['executing', 'ready', 'waiting']);
  figures.chosenGroup = 'scheduler';
  expect(labels()).toEqual(['processing', 'queued', 'no worker']);
  expect(absentWords(figures)).not.toContain('Tasks');
});

test('what is missing is told with why, all of one reason at once', () => {
  const recording = recordingOf({ resources: [{ process: 'tcp://a', time: 1, cpu: 5, lag: 0.1 }] });
  const figures = new ResourceFigures({ recording } as PanelContext);
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
  const figures = new ResourceFigures({ recording } as PanelContext);
  figures.read();
  expect(figures.mostOf(figures.there[0])).toBe(most);
});

test('where too few samples came for a figure, it is said how more would', () => {
  const resources = [{ process: 'tcp://a', time: 1, cpu: Number.NaN }];
  const figures = new ResourceFigures({ recording: recordingOf({ resources }) } as PanelContext);
  figures.read();
  expect(absentWords(figures)).toMatch(/^No samples of these processes\. record\(/);
});

test('nobody looks for GPUs but at workers; of others those are shown that are there', () => {
  const resources = ['tcp://a', 'scheduler'].map(process => ({ process, time: 1, cpu: 5 }));
  const recording = recordingOf({ resources });
  const figures = new ResourceFigures({ recording } as PanelContext);
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
