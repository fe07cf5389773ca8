import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';
import type { Place } from '../kernels/place';
import type { Places } from '../kernels/places';
import type { Documents } from './documents';
import type { Hidden } from './hidden';
import { Layouts } from './layouts';

test('a layout of another release opens the panels that there are', () => {
  const open = vi.fn((_: string) => ({}));
  const places = { renamed: new Signal({}), documentOf: () => undefined } as unknown as Places;
  const hidden = { remove: vi.fn() } as unknown as Hidden;
  const layouts = new Layouts({ open } as unknown as Documents, places, hidden);
  const steps = ['panel-of-tomorrow', 'memory'].map(panel => ({
    panel,
    beside: 'notebook',
    where: 'right' as const
  }));
  layouts.apply(steps, {} as Place);
  expect(open.mock.calls.map(([panel]) => panel)).toEqual(['memory']);
});
