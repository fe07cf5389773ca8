import { LivePage } from '@dask-insight/panels/hosts/live-page';
import { PANELS } from '@dask-insight/panels/panels/index';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { expect, test, vi } from 'vitest';
import { LatestCell } from '../kernels/latest-cell';
import type { Place } from '../kernels/place';
import { PanelBody } from './panel-body';

vi.mock('../icons', () => ({ reportIcon: { element: () => document.createElement('span') } }));

test('a panel says whether it is in sight: hidden behind another tab, shown again, gone', () => {
  const page = new LivePage();
  const show = vi.fn();
  const live = { page, latest: new LatestCell(page), show, loaded: false, empty: true, status: {} };
  const place = { changed: new Signal({}), kernel: {}, live } as unknown as Place;
  const body = new PanelBody(PANELS[0], place, () => undefined);
  const told = (): unknown => {
    const last = show.mock.lastCall?.[1];
    show.mockClear();
    return last;
  };
  Widget.attach(body, document.body);
  expect(told()).toBe(true);
  body.hide();
  expect(told()).toBe(false);
  body.show();
  expect(told()).toBe(true);
  Widget.detach(body);
  expect(told()).toBe(false);
  body.dispose();
});
