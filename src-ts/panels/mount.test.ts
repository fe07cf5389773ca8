import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { type Mounted, mount } from './mount';
import type { Panel, PanelView, Stage } from './panel';
import { createStage } from './stage';

let stage: Stage;
let mounted: Mounted;
let nothing: string | undefined;

function show(view: Partial<PanelView> = {}): void {
  const panel: Panel = {
    id: 'some',
    title: 'Some',
    tables: ['resources'],
    overTime: true,
    create: () => ({ empty: () => nothing, height: () => 10, layout: () => {}, draw: () => {}, ...view })
  };
  mounted = mount(panel, stage, document.body);
}

const press = (name: string): void =>
  [...mounted.element.querySelectorAll<HTMLElement>('button')]
    .find(({ title, textContent }) => [title, textContent].includes(name))
    ?.click();

beforeEach(() => {
  nothing = undefined;
  stage = createStage(
    recordingOf({
      resources: [
        { process: 'w', time: 0 },
        { process: 'w', time: 10 }
      ]
    })
  );
});

afterEach(() => {
  mounted.dispose();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('a table of what is in sight is filled anew when that is another time, once it stands still', async () => {
  vi.useFakeTimers();
  const rows = vi.fn(() => ({ columns: [], length: 0, row: () => [] }));
  show({ rows });
  press('Show as table');
  rows.mockClear();
  stage.viewport.show(2, 4);
  await vi.advanceTimersByTimeAsync(9000);
  expect(rows).toHaveBeenCalledOnce();
});

test('what a table leaves out stands in its caption', () => {
  show({ rows: () => ({ columns: [], length: 0, note: ': the first 2 of 3', row: () => [] }) });
  press('Show as table');
  expect(mounted.element.querySelector('caption')?.textContent).toBe('Some: the first 2 of 3');
});

test.each([
  [false, true],
  [true, false]
])('a picture tells the time that it shows, unless it has an axis of its own: %s', async (ownAxis, told) => {
  let picture = new Blob();
  vi.spyOn(URL, 'createObjectURL').mockImplementation(blob => {
    picture = blob as Blob;
    return '';
  });
  show({ ownAxis });
  mounted.surface.width = 900;
  press('SVG drawing');
  expect((await picture.text()).includes('of 10')).toBe(told);
});

test('where there is nothing to show there is no picture to save', () => {
  show();
  const menu = mounted.element.querySelector('details');
  expect(menu?.className).not.toContain('di-away');
  nothing = 'Nothing belongs to what is chosen.';
  mounted.layout();
  expect(menu?.className).toContain('di-away');
});

test('why a picture could not be made is told where it was asked for', async () => {
  show({
    signs: () => {
      throw new Error('too large');
    }
  });
  press('PNG picture');
  await Promise.resolve();
  const menu = mounted.element.querySelector('details');
  expect([menu?.open, menu?.querySelector('[role=alert]')?.textContent]).toEqual([true, 'too large']);
});
