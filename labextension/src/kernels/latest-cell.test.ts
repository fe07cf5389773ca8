import { bytesOf, joined } from '@dask-insight/panels/core/test-bytes';
import { cellPicker } from '@dask-insight/panels/hosts/live-controls';
import { LivePage } from '@dask-insight/panels/hosts/live-page';
import { beforeEach, expect, test, vi } from 'vitest';
import { LatestCell } from './latest-cell';

let page: LivePage;
let latest: LatestCell;
let picker: HTMLSelectElement;

beforeEach(() => {
  // Time stands still, so that no slice of reading ever ends.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  page = new LivePage();
  latest = new LatestCell(page);
  picker = cellPicker(latest).element as HTMLSelectElement;
});

const began = (started: number): Uint8Array =>
  bytesOf('about', [{ name: 'started', value: String(started) }]);

/** A cell that runs, and the task it had Dask run so far. */
function ran(execution: number, start: number, tasks = 1): Uint8Array {
  return joined(
    bytesOf('attempts', [
      { run: start, task: 0, worker: 'w', thread: 't', status: 'ok', start, stop: start + 5 }
    ]),
    bytesOf('cells', [{ execution, code: 'x.compute()', start }]),
    bytesOf('submissions', [{ submission: start, time: start, tasks, execution }])
  );
}

function choose(words: string): void {
  const option = [...picker.options].find(({ label, text }) => (label || text).startsWith(words));
  picker.value = option?.value ?? 'none';
  picker.dispatchEvent(new Event('change'));
}

const chosen = (): string => picker.options[picker.selectedIndex].text;

/** The page shows the cell 4, the latest so far, and is to go along. */
function going(): void {
  page.take(joined(began(90), ran(3, 91), ran(4, 100)));
  choose('Latest cell');
}

test('it is offered beside the cells, once there are any, and is not chosen', () => {
  page.take(began(90));
  expect(picker.hidden).toBe(true);
  page.take(joined(ran(3, 91), ran(4, 100)));
  expect([...picker.options].map(({ text }) => text.split(']')[0])).toEqual([
    'All cells',
    'Latest cell',
    '[4',
    '[3'
  ]);
  expect([latest.on, page.cell, chosen()]).toEqual([false, undefined, 'All cells']);
});

test('once it is chosen the page goes along to each newer cell that has tasks, and its time', () => {
  going();
  expect([page.cell, chosen()]).toEqual([4, 'Latest cell']);
  expect([page.follow, page.viewport.start]).toEqual([true, 100]);
  page.take(ran(5, 110, 0));
  expect(page.cell).toBe(4);
  page.viewport.show(101, 102);
  page.take(ran(6, 120));
  expect([page.cell, chosen()]).toEqual([6, 'Latest cell']);
  expect([page.follow, page.viewport.start]).toEqual([true, 120]);
});

test('the same cell is shown once: what a person zooms into stays', () => {
  going();
  page.viewport.show(101, 102);
  page.take(ran(4, 100));
  expect(page.viewport.start).toBe(101);
});

test.each([
  ['Esc', () => page.selection.escape(), undefined],
  ['undo', () => page.selection.undo(), undefined],
  ['all cells', () => choose('All cells'), undefined],
  ['another cell', () => choose('[3]'), 3],
  ['the cell itself', () => choose('[4]'), 4],
  [
    'a cell in a panel',
    () => page.selection.only('cell', [{ source: 'time-budget', column: 'cell', value: [3] }]),
    3
  ]
])('it ends with %s', (_, end, shown) => {
  going();
  const told = vi.fn();
  latest.switched.connect(told);
  end();
  expect(told).toHaveBeenCalledOnce();
  page.take(ran(5, 110));
  expect([latest.on, page.cell]).toEqual([false, shown]);
  expect(picker.value).toBe(String(shown ?? ''));
});

test('it stays where something else is chosen beside it', () => {
  going();
  page.selection.set({ source: 'x', column: 'name', value: ['inc'] });
  page.selection.escape();
  page.take(ran(5, 110));
  expect([latest.on, page.cell]).toEqual([true, 5]);
});

test('all pickers of a page show it, and none that has gone', () => {
  const other = cellPicker(latest);
  page.take(ran(4, 100));
  page.showCell(4);
  choose('Latest cell');
  const { value } = other.element as HTMLSelectElement;
  expect(value).toBe(picker.value);
  other.dispose();
  choose('[4]');
  expect((other.element as HTMLSelectElement).value).toBe(value);
});

test('when the kernel is restarted it goes along with what that does next', () => {
  going();
  page.reset();
  page.take(began(200));
  page.take(bytesOf('resources', [{ process: 'w', time: 201, cpu: 1 }]));
  expect([latest.on, page.cell]).toEqual([true, undefined]);
  page.take(ran(1, 210));
  expect([page.cell, chosen()]).toEqual([1, 'Latest cell']);
  page.reset();
  // Its scheduler's clock is behind.
  page.take(joined(began(50), ran(1, 60)), { more: false });
  page.take(ran(2, 70));
  expect([page.cell, chosen()]).toEqual([2, 'Latest cell']);
});

test('what is switched on before anything has come, as after a reload, shows the latest of what comes', () => {
  latest.on = true;
  page.take(joined(began(90), ran(3, 91), ran(4, 100)));
  expect([page.cell, chosen()]).toEqual([4, 'Latest cell']);
});
