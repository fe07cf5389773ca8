import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { AXIS_HEIGHT } from '../draw/axis';
import type { GestureHandlers } from '../draw/gestures';
import type { Box, Pen } from '../draw/pen';
import { Surface } from '../draw/surface';
import { Tooltip } from '../draw/tooltip';
import { Interaction } from './interaction';
import type { Mark, Panel, PanelView } from './panel';
import { createStage } from './stage';

const PANEL: Panel = {
  id: 'some',
  title: 'Some',
  tables: [],
  overTime: false,
  create: () => view
};

function markAt(id: number): Mark {
  return {
    id,
    box: { x: 10 * id, y: 0, width: 10, height: 10 },
    card: () => ({ title: `mark ${id}`, groups: [] }),
    words: () => `mark ${id}`
  };
}

/** The first mark stands at 0; a click moves the picture by one mark. */
let moved = 0;
const view: PanelView = {
  empty: () => undefined,
  height: () => 10,
  layout: () => {},
  draw: () => {},
  pick: x => markAt(Math.floor(x / 10) + moved),
  move: (from, direction) => markAt(direction === 'right' ? Number(from?.id ?? 0) + 1 : 0),
  follow: (from, to) => (to === 'inputs' ? markAt(Number(from.id) + 7) : undefined),
  gestures: {
    click: () => {
      moved++;
    }
  }
};

let surface: Surface;
let tooltip: Tooltip;
let interaction: Interaction;
let handlers: GestureHandlers;

beforeEach(() => {
  moved = 0;
  surface = new Surface();
  surface.element.tabIndex = 0;
  document.body.append(surface.element);
  tooltip = new Tooltip(document.body, () => interaction.back());
  interaction = new Interaction(PANEL, view, createStage(recordingOf({})), surface, tooltip, () => {});
  handlers = interaction.handlers();
});

afterEach(() => {
  tooltip.dispose();
  surface.dispose();
});

const press = (key: string): boolean | undefined => handlers.key?.(new KeyboardEvent('keydown', { key }));
const title = (): string | null | undefined =>
  tooltip.element.hidden ? undefined : tooltip.element.querySelector('.di-card-name')?.textContent;

test('a card that keys have opened goes with the focus', () => {
  press('Enter');
  press('ArrowRight');
  expect(title()).toBe('mark 1');
  interaction.left();
  expect(title()).toBeUndefined();
});

test.each([true, false])('a chart with an axis of its own leaves the wheel to the page: %s', ownAxis => {
  const stage = createStage(recordingOf({}));
  const charted = { ...view, ownAxis, gestures: {} };
  const panel = { ...PANEL, overTime: true };
  const { zoom, pan } = new Interaction(panel, charted, stage, surface, tooltip, () => {}).handlers();
  expect([zoom?.(5, 5, 0.5) === false, pan?.(5, 0) === false]).toEqual([ownAxis, ownAxis]);
});

test.each([
  [15 + AXIS_HEIGHT, true],
  [25 + AXIS_HEIGHT, false]
])('what stands %d pixels down is zoomed with the time of a chart that is 20 tall: %s', (y, isOverTime) => {
  const stage = createStage(recordingOf({}));
  const plot = (): Box => ({ x: 0, y: 0, width: 100, height: 20 });
  const charted = { ...view, plot, gestures: {} };
  const panel = { ...PANEL, overTime: true };
  const { zoom, hover } = new Interaction(panel, charted, stage, surface, tooltip, () => {}).handlers();
  hover?.({ x: 5, y });
  expect(Number.isFinite(stage.viewport.cursor)).toBe(isOverTime);
  expect(zoom?.(5, y, 0.5) !== false).toBe(isOverTime);
});

test('what a view makes of the wheel itself is told on', () => {
  const charted = { ...view, gestures: { zoom: () => false, pan: () => false } };
  const stage = createStage(recordingOf({}));
  const { zoom, pan } = new Interaction(PANEL, charted, stage, surface, tooltip, () => {}).handlers();
  expect([zoom?.(5, 5, 0.5), pan?.(5, 0)]).toEqual([false, false]);
});

test('a card that the pointer or a pin holds stays when the focus goes', () => {
  handlers.hover?.({ x: 25, y: 5 });
  interaction.left();
  expect(title()).toBe('mark 2');
  press('Enter');
  interaction.left();
  expect(title()).toBe('mark 2');
});

test('after a pinned card is closed nothing is pointed at, and the chart has the focus', () => {
  press('Enter');
  press('Enter');
  expect(tooltip.pinned).toBe(true);
  tooltip.element.querySelector<HTMLElement>('.di-card-close')?.click();
  expect(surface.element.classList.contains('di-pointing')).toBe(false);
  expect(document.activeElement).toBe(surface.element);
});

test('Tab goes from the chart into a pinned card, through it and back', () => {
  const text = { ...markAt(0), card: () => ({ title: 'failed', groups: [], text: 'line 12' }) };
  const move = vi.spyOn(view, 'move').mockReturnValue(text);
  const tab = (shiftKey = false): boolean | undefined =>
    handlers.key?.(new KeyboardEvent('keydown', { key: 'Tab', shiftKey }));
  const within = (target: Element | null | undefined, init: KeyboardEventInit): boolean =>
    target?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init })) ?? true;
  press('Enter');
  expect(tab()).toBe(false);
  press('Enter');
  expect(tab(true)).toBe(false);
  expect(tab()).toBe(true);
  expect(document.activeElement).toBe(tooltip.element);
  const [pre, close] = tooltip.element.querySelectorAll<HTMLElement>('pre, button');
  expect(pre.tabIndex).toBe(0);
  expect(within(pre, { key: 'Tab' })).toBe(true);
  expect(document.activeElement).toBe(tooltip.element);
  for (const [last, shiftKey] of [
    [close, false],
    [pre, true],
    [tooltip.element, true]
  ] as const) {
    tooltip.element.focus();
    // From its last control the Tab goes on, from the chart.
    expect(within(last, { key: 'Tab', shiftKey })).toBe(!shiftKey);
    expect(document.activeElement).toBe(surface.element);
    expect(tooltip.pinned).toBe(true);
  }
  tooltip.element.focus();
  within(pre, { key: 'Escape' });
  expect(title()).toBeUndefined();
  expect(document.activeElement).toBe(surface.element);
  move.mockRestore();
});

test('Esc puts away the card of the pointer, which comes back on another mark', () => {
  handlers.hover?.({ x: 25, y: 5 });
  expect(press('Escape')).toBe(true);
  expect(title()).toBeUndefined();
  interaction.moved();
  handlers.hover?.({ x: 26, y: 5 });
  expect(title()).toBeUndefined();
  expect(press('Escape')).toBe(false);
  handlers.hover?.({ x: 35, y: 5 });
  expect(title()).toBe('mark 3');
  press('Escape');
  press('Enter');
  expect([title(), tooltip.pinned]).toEqual(['mark 3', true]);
  expect(interaction.dismiss()).toBe(true);
  expect(interaction.dismiss()).toBe(false);
});

test.each(['click', 'Enter'])('what has been done is told by no card: %s', how => {
  const more = { ...markAt(2), acts: true as const };
  const pick = vi.spyOn(view, 'pick').mockReturnValue(more);
  const choose = vi.fn();
  const acting = { ...view, choose, gestures: {} };
  const stage = createStage(recordingOf({}));
  interaction = new Interaction(PANEL, acting, stage, surface, tooltip, () => {});
  handlers = interaction.handlers();
  handlers.hover?.({ x: 25, y: 5 });
  expect(title()).toBe('mark 2');
  if (how === 'Enter') press('Enter');
  else handlers.click?.(25, 5, new Event('pointerup') as PointerEvent);
  expect(choose).toHaveBeenCalledOnce();
  interaction.renewed();
  expect([title(), tooltip.pinned]).toEqual([undefined, false]);
  pick.mockReturnValue(markAt(3));
  interaction.renewed();
  expect(title()).toBe('mark 3');
  pick.mockRestore();
});

test('Esc leaves what the arrow keys are on before a choice is taken back, also where no card of it is', () => {
  const more = { ...markAt(2), acts: true as const };
  const move = vi.spyOn(view, 'move').mockReturnValue(more);
  press('Enter');
  press('Enter');
  expect(title()).toBeUndefined();
  expect(interaction.dismiss()).toBe(true);
  expect(surface.element.classList.contains('di-pointing')).toBe(false);
  expect(interaction.dismiss()).toBe(false);
  move.mockRestore();
});

test('after a click beside all marks Esc is for the choice, also where the arrow keys were on one', () => {
  const beside = { ...view, gestures: {}, pick: () => undefined };
  const stage = createStage(recordingOf({}));
  interaction = new Interaction(PANEL, beside, stage, surface, tooltip, () => {});
  handlers = interaction.handlers();
  for (let pressed = 0; pressed < 2; pressed++) press('Enter');
  handlers.click?.(25, 5, new Event('pointerup') as PointerEvent);
  expect(interaction.dismiss()).toBe(false);
});

test('where a click moves the picture, the card tells of what is under the pointer then', () => {
  handlers.hover?.({ x: 25, y: 5 });
  expect(title()).toBe('mark 2');
  handlers.click?.(25, 5, new Event('pointerup') as PointerEvent);
  expect(title()).toBe('mark 3');
});

test('where a page scrolls, a card of the pointer goes, one of the keys goes along, one that is pinned stays', () => {
  handlers.hover?.({ x: 25, y: 5 });
  interaction.pageMoved(true);
  expect(title()).toBeUndefined();
  press('Enter');
  const top = (): number => Number.parseFloat(tooltip.element.style.top);
  const before = top();
  surface.element.getBoundingClientRect = () => new DOMRect(0, 100, 100, 10);
  interaction.pageMoved(true);
  expect([title(), top()]).toEqual(['mark 0', before + 100]);
  press('Enter');
  surface.element.getBoundingClientRect = () => new DOMRect(0, 200, 100, 10);
  interaction.pageMoved(true);
  expect([title(), tooltip.pinned, top()]).toEqual(['mark 0', true, before + 100]);
});

test('where lines above it come or go, a pinned card stands beside what it tells of again', () => {
  press('Enter');
  press('Enter');
  const before = Number.parseFloat(tooltip.element.style.top);
  surface.element.getBoundingClientRect = () => new DOMRect(0, 40, 100, 10);
  interaction.pageMoved(false);
  expect([title(), tooltip.pinned]).toEqual(['mark 0', true]);
  expect(Number.parseFloat(tooltip.element.style.top)).toBe(before + 40);
});

test('a card goes with the tab that is hidden, a pinned one too, and takes no focus', () => {
  press('Enter');
  press('Enter');
  expect(tooltip.pinned).toBe(true);
  surface.element.blur();
  surface.element.getClientRects = () => [] as never;
  interaction.pageMoved(false);
  expect([title(), tooltip.pinned]).toEqual([undefined, false]);
  expect(surface.element.classList.contains('di-pointing')).toBe(false);
  expect(document.activeElement).not.toBe(surface.element);
});

test('a card of the keys stands beside its mark wherever the picture moves it', () => {
  let left = 0;
  const mark = markAt(1);
  const box = vi.spyOn(view, 'move').mockReturnValue({
    ...mark,
    get box() {
      return { ...mark.box, x: left };
    }
  });
  press('Enter');
  const place = vi.spyOn(tooltip, 'place');
  left = 40;
  interaction.moved();
  expect(place.mock.lastCall?.[0].x).toBe(40);
  press('Enter');
  left = 80;
  place.mockClear();
  interaction.moved();
  expect(place).not.toHaveBeenCalled();
  box.mockRestore();
});

test.each([
  ['another one', ['other'], 0],
  ['the same', ['mark'], 0],
  ['nothing', [], 0],
  ['nothing, after other choices', [], 2]
])('a double click fits, and leaves what was chosen: %s', (_, names, others) => {
  const stage = createStage(recordingOf({ resources: [1, 3].map(time => ({ process: 'w', time })) }));
  const { selection, viewport } = stage;
  const choosing: PanelView = {
    ...view,
    gestures: {},
    choose: () => selection.choose('some', 'name', ['mark'], false)
  };
  for (let other = 0; other < others; other++)
    selection.set({ source: 'x', column: 'worker', value: [String(other)] });
  selection.set({ source: 'some', column: 'name', value: names });
  const { clauses } = selection;
  const panel = { ...PANEL, overTime: true };
  const { click, doubleClick } = new Interaction(
    panel,
    choosing,
    stage,
    surface,
    tooltip,
    () => {}
  ).handlers();
  viewport.show(1.5, 2);
  for (let pressed = 0; pressed < 2; pressed++) click?.(5, 5, new Event('pointerup') as PointerEvent);
  doubleClick?.(5, 5);
  expect(selection.clauses).toBe(clauses);
  expect(viewport.span).toBeCloseTo(2);
});

test('a finger, which cannot point, has the card of what it pressed stay', () => {
  const finger = Object.assign(new Event('pointerup'), { pointerType: 'touch' }) as unknown as PointerEvent;
  handlers.click?.(25, 5, finger);
  handlers.hover?.(undefined);
  expect(title()).toBe('mark 3');
  expect(tooltip.pinned).toBe(true);
});

test('keys follow the graph from what is pointed at, and stay where it ends', () => {
  press('i');
  expect(title()).toBeUndefined();
  handlers.hover?.({ x: 25, y: 5 });
  expect(title()).toBe('mark 2');
  press('i');
  expect(title()).toBe('mark 9');
  press('o');
  expect(title()).toBe('mark 9');
});

test('a stretch that is marked beside the plot chooses no time', () => {
  const stage = createStage(
    recordingOf({
      attempts: [{ run: 0, task: 0, worker: 'a', thread: '1', status: 'ok', start: 1, stop: 2 }]
    })
  );
  const beside = { ...view, plot: () => ({ x: 100, y: 0, width: 100, height: 10 }) };
  const panel = { ...PANEL, overTime: true };
  const { brush } = new Interaction(panel, beside, stage, surface, tooltip, () => {}).handlers();
  brush?.(10, 60, true);
  expect(stage.selection.clauses).toEqual([]);
  brush?.(10, 150, true);
  expect(stage.selection.clauses).toHaveLength(1);
});

test('letters do the same with the caps lock on', () => {
  handlers.hover?.({ x: 25, y: 5 });
  press('I');
  expect(title()).toBe('mark 9');
  const stage = createStage(recordingOf({ resources: [1, 3].map(time => ({ process: 'w', time })) }));
  const panel = { ...PANEL, overTime: true };
  const { key } = new Interaction(panel, view, stage, surface, tooltip, () => {}).handlers();
  key?.(new KeyboardEvent('keydown', { key: 'S' }));
  expect(stage.selection.clauses).toHaveLength(1);
});

test('a stretch begins at the moment that was pressed, however the picture of a run that goes on moves meanwhile', () => {
  const stage = createStage(recordingOf({}), { live: true });
  const { viewport, selection } = stage;
  viewport.setExtent(0, 10);
  const charted = { ...view, gestures: {}, plot: () => ({ x: 0, y: 0, width: 100, height: 10 }) };
  const panel = { ...PANEL, overTime: true };
  interaction = new Interaction(panel, charted, stage, surface, tooltip, () => {});
  const { brush } = interaction.handlers();
  const start = viewport.scale(100).time(50);
  brush?.(50, 50, false);
  viewport.setExtent(0, 30);
  const scale = viewport.scale(100);
  const filled: number[][] = [];
  const pen = { fillRect: (...box: number[]) => filled.push(box) } as unknown as Pen;
  interaction.drawOverlay(() => pen);
  expect(filled[0]).toEqual([0, 0, scale.x(start), 10]);
  brush?.(50, 100, true);
  const stop = scale.time(100);
  expect(selection.clauses).toEqual([{ source: 'some', column: 'time', value: { start, stop } }]);
  // What is given up chooses nothing.
  selection.forget();
  brush?.(50, 80, false);
  viewport.setExtent(0, 50);
  brush?.(50, 50, true);
  expect(selection.clauses).toEqual([]);
});

test("keys with Ctrl, Alt or Command are the browser's, not the view's", () => {
  const key = vi.fn(() => true);
  const stage = createStage(recordingOf({}));
  const own = { ...view, gestures: { key } };
  handlers = new Interaction(PANEL, own, stage, surface, tooltip, () => {}).handlers();
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey'])
    expect(handlers.key?.(new KeyboardEvent('keydown', { key: '+', [modifier]: true }))).toBe(false);
  expect(key).not.toHaveBeenCalled();
  expect(press('+')).toBe(true);
});

test('a card that is there tells what is known by now, one that was put away stays away', () => {
  let said = 1;
  const growing = { ...markAt(2), card: () => ({ title: `said ${said}`, groups: [] }) };
  const pick = vi.spyOn(view, 'pick').mockImplementation(() => ({ ...growing }));
  handlers.hover?.({ x: 25, y: 5 });
  said = 2;
  interaction.renewed();
  expect(title()).toBe('said 2');
  press('Escape');
  interaction.renewed();
  expect(title()).toBeUndefined();
  pick.mockRestore();
});

test('a range that is chosen fades what is drawn, not the words between', () => {
  const stage = createStage(recordingOf({}));
  const boxes = (): Box[] => [20, 60].map(y => ({ x: 0, y, width: 100, height: 20 }));
  const plot = (): Box => ({ x: 0, y: 0, width: 100, height: 100 });
  const charted = { ...view, plot, boxes };
  const over = new Interaction({ ...PANEL, overTime: true }, charted, stage, surface, tooltip, () => {});
  stage.selection.set({ source: 'x', column: 'time', value: { start: 0.2, stop: 0.4 } });
  const fillRect = vi.fn();
  over.drawOverlay(() => ({ fillRect }) as unknown as Pen);
  const faded = fillRect.mock.calls.filter(([, , width]) => width !== 1);
  expect(faded.map(([, y, , height]) => [y, height])).toEqual([
    [20, 20],
    [20, 20],
    [60, 20],
    [60, 20]
  ]);
});
