import { expect, test } from 'vitest';
import { batchOf, recordingOf } from '../../core/test-recording';
import type { PanelContext } from '../panel';
import { ResourceFigures } from './figures';

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
