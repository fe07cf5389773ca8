import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { batchOf, recordingOf } from '../core/test-recording';
import { element } from './element';
import { Interaction } from './interaction';
import { type Mounted, type MountOptions, mount } from './mount';
import { noneChosen } from './no-tasks';
import type { Panel, PanelView, Stage } from './panel';
import { createStage } from './stage';

let stage: Stage;
let mounted: Mounted;
let nothing: string | undefined;

function show(
  view: Partial<PanelView> = {},
  host: HTMLElement = document.body,
  options: MountOptions = {}
): void {
  const panel: Panel = {
    id: 'some',
    title: 'Some',
    tables: ['resources'],
    overTime: true,
    create: () => ({ empty: () => nothing, height: () => 10, layout: () => {}, draw: () => {}, ...view })
  };
  mounted = mount(panel, stage, host, options);
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

test('what another choice may show is not told as a lack', () => {
  stage = createStage(recordingOf({ about: [{ name: 'lacks', value: '{"resources": "Left out."}' }] }));
  nothing = noneChosen('Nothing was measured in');
  show();
  expect(mounted.element.classList.contains('di-bare')).toBe(false);
  expect(mounted.element.textContent).toContain('Nothing was measured in');
  nothing = 'Nothing was recorded.';
  mounted.layout();
  expect(mounted.element.textContent).toContain('Left out.');
});

test('a head has controls only where they may show something', () => {
  const isBare = (): boolean => {
    mounted.layout();
    return mounted.element.classList.contains('di-bare');
  };
  show();
  expect(isBare()).toBe(false);
  nothing = 'Nothing was recorded.';
  stage.selection.choose('x', 'name', ['inc'], false);
  expect(isBare()).toBe(true);
  nothing = noneChosen('Nothing was measured in');
  expect(isBare()).toBe(false);
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

test('who has saved a picture goes on from the button of its menu', () => {
  show();
  const menu = mounted.element.querySelector('details') as HTMLDetailsElement;
  menu.open = true;
  menu.querySelector('button')?.focus();
  press('SVG drawing');
  expect([menu.open, document.activeElement === menu.querySelector('summary')]).toEqual([false, true]);
});

test('a drawing that fills its place makes room for its table at once', () => {
  const host = element('div');
  document.body.append(host);
  host.style.padding = '0px';
  vi.spyOn(host, 'clientHeight', 'get').mockReturnValue(500);
  show({ fills: true, rows: () => ({ columns: [], length: 0, row: () => [] }) }, host, { fill: true });
  const height = (): string => mounted.surface.element.style.height;
  expect(height()).toBe('500px');
  press('Show as table');
  expect(height()).toBe('10px');
  press('Show as table');
  expect(height()).toBe('500px');
  host.remove();
});

test('whether a table is shown is told from the beginning', () => {
  show({ rows: () => ({ columns: [], length: 0, row: () => [] }) });
  const pressed = (): string | null | undefined =>
    mounted.element.querySelector('[title="Show as table"]')?.getAttribute('aria-pressed');
  expect(pressed()).toBe('false');
  press('Show as table');
  expect(pressed()).toBe('true');
});

test.each(['scroller', 'page'])('a card goes along in a shadow tree where it is scrolled: %s', where => {
  const host = document.createElement('div');
  const scroller = document.createElement('div');
  const other = document.createElement('div');
  document.body.append(host);
  host.attachShadow({ mode: 'open' }).append(scroller, other);
  const moved = vi.spyOn(Interaction.prototype, 'pageMoved');
  show({}, scroller);
  moved.mockClear();
  other.dispatchEvent(new Event('scroll'));
  expect(moved).not.toHaveBeenCalled();
  (where === 'page' ? document : scroller).dispatchEvent(new Event('scroll'));
  expect(moved).toHaveBeenCalledExactlyOnceWith(true);
  host.remove();
});

test('a chip that is pressed gives the focus to the next one, the last one to the drawing', () => {
  show();
  const { selection } = stage;
  for (const source of ['a', 'b']) selection.set({ source, column: 'name', value: [source] });
  const chips = (): HTMLElement[] => [...mounted.element.querySelectorAll<HTMLElement>('.di-chip')];
  for (const next of [() => chips()[0], () => mounted.surface.element]) {
    chips()[0].focus();
    chips()[0].click();
    expect(document.activeElement).toBe(next());
  }
  mounted.surface.element.blur();
  selection.set({ source: 'a', column: 'name', value: ['a'] });
  expect(document.activeElement).toBe(document.body);
});

test('what a note over a picture says is told in a saved picture, too', async () => {
  const made = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:some');
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
  show({ above: element('div', { class: 'di-note' }, 'All 3 tasks are done') });
  mounted.surface.width = 600;
  press('SVG drawing');
  await vi.waitFor(() => expect(made).toHaveBeenCalled());
  expect(await (made.mock.calls[0][0] as Blob).text()).toContain('>All 3 tasks are done · Recording');
});

test('where there is no drawing the last chip gives the focus to what can be pressed first', () => {
  show({ plain: true, rows: () => ({ columns: [], length: 0, row: () => [] }) });
  stage.selection.set({ source: 'a', column: 'name', value: ['a'] });
  mounted.layout();
  const chip = mounted.element.querySelector<HTMLElement>('.di-chip');
  chip?.focus();
  chip?.click();
  expect(document.activeElement).toBe(mounted.element.querySelector('[title="Show as table"]'));
});

test('chips say what they stand for once that is known, and keep the focus', async () => {
  vi.useFakeTimers();
  stage = createStage(recordingOf({}));
  stage.selection.set({ source: 'a', column: 'time', value: { start: 1003, stop: 1005 } });
  stage.selection.set({ source: 'a', column: 'worker', value: ['w'] });
  show();
  const chips = (): HTMLElement[] => [...mounted.element.querySelectorAll<HTMLElement>('.di-chip')];
  expect(chips()[1].textContent).toBe('worker w');
  chips()[1].focus();
  stage.recording.take(batchOf('about', [{ name: 'started', value: '1000' }]));
  stage.recording.take(batchOf('workers', [{ worker: 'w', name: '3' }]));
  stage.recording.take(batchOf('resources', [{ process: 'w', time: 1009 }]));
  await vi.advanceTimersByTimeAsync(9000);
  expect(chips().map(({ textContent }) => textContent)).toEqual(['3\u2009s – 5\u2009s', 'worker 3']);
  expect(document.activeElement).toBe(chips()[1]);
});

test('chips stay what was pressed while data come that say nothing else of them', async () => {
  vi.useFakeTimers();
  show();
  stage.selection.set({ source: 'a', column: 'name', value: ['inc'] });
  const chip = mounted.element.querySelector('.di-chip');
  stage.recording.take(batchOf('submissions', [{ submission: 1, time: 5, tasks: 3 }]));
  stage.recording.take(batchOf('resources', [{ process: 'w', time: 11 }]));
  await vi.advanceTimersByTimeAsync(9000);
  expect(mounted.element.querySelector('.di-chip')).toBe(chip);
});

test('a panel that is taken away leaves no moment and no name pointed at in the others', () => {
  show();
  stage.viewport.cursor = 3;
  stage.selection.highlight = 'inc';
  mounted.dispose();
  expect([stage.viewport.cursor, stage.selection.highlight]).toEqual([Number.NaN, undefined]);
});

test('a saved picture and a printed page say what of all there is is shown', async () => {
  let picture = new Blob();
  vi.spyOn(URL, 'createObjectURL').mockImplementation(blob => {
    picture = blob as Blob;
    return '';
  });
  show({ shows: () => 'of the scheduler' });
  mounted.surface.width = 900;
  press('SVG drawing');
  expect(await picture.text()).toMatch(/>of the scheduler · Recording/);
  window.dispatchEvent(new Event('beforeprint'));
  expect(mounted.element.querySelector('header .di-on-paper')?.textContent).toBe('of the scheduler');
});

test.each([
  ['in sight', 'in the next frame', 20],
  ['far from the window', 'when there is nothing else to do', 6000]
])('what is chosen fills a table %s once, %s', async (where, _, wait) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'requestAnimationFrame', 'requestIdleCallback'] });
  const context = { setTransform: () => {}, fillRect: () => {}, clearRect: () => {} };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  const rows = vi.fn(() => ({ columns: [], length: 0, row: () => [] }));
  show({ rows });
  mounted.surface.width = mounted.surface.height = 100;
  press('Show as table');
  await vi.advanceTimersByTimeAsync(6000);
  Object.assign(mounted.surface, { visible: where === 'in sight' });
  rows.mockClear();
  stage.selection.set({ source: 'a', column: 'name', value: ['a'] });
  expect(rows).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(wait);
  expect(rows).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(6000);
  expect(rows).toHaveBeenCalledOnce();
});
