import { deflateSync } from 'node:zlib';
import { encode } from '@msgpack/msgpack';
import { expect, test, vi } from 'vitest';
import { bytesOf, joined } from '../core/test-bytes';
import { dataBlocks, SavedReport } from './saved-report';

// Node has no ascii91 to write; of base64 it has.
vi.mock('../core/ascii91', () => ({
  fromAscii91: (text: string) => Uint8Array.from(Buffer.from(text, 'base64'))
}));

/** What a report has on its bar, what is pressed there, and what it shows. */
async function opened(...batches: readonly Uint8Array[]): Promise<string[][]> {
  const host = document.createElement('div');
  document.body.append(host);
  const report = new SavedReport(host);
  await report.open([deflateSync(joined(...batches)).toString('base64')]);
  const toggles = [...host.querySelectorAll<HTMLElement>('.di-saved-bar > .di-button')];
  const words = (all: readonly HTMLElement[]): string[] => all.map(each => each.textContent ?? '');
  const pressed = toggles.filter(each => each.getAttribute('aria-pressed') === 'true');
  const shown = [...host.querySelectorAll('.di-saved-cell:not([hidden]) > .di-panel')];
  report.dispose();
  host.remove();
  return [
    words(toggles),
    words(pressed),
    shown.map(each => each.className.match(/di-panel-([\w-]+)/)?.[1] ?? '')
  ];
}

const SIDES = bytesOf(
  'compared_sides',
  [0, 1].map(side => ({ side, name: `side-${side}`, runs: 1 }))
);
const TASK = bytesOf('attempts', [{ run: 0, task: 0, status: 'ok', start: 1, stop: 2 }]);

test('a comparison is shown first where there is one, alone if that is all, and offered nowhere else', async () => {
  const [all, pressed, shown] = await opened(TASK);
  expect(all).not.toContain('Compare');
  expect([pressed, shown]).toEqual([all.slice(0, 3), ['findings', 'time-budget', 'task-stream']]);
  const compared = await opened(TASK, SIDES);
  expect(compared).toEqual([
    ['Compare', ...all],
    ['Compare', ...pressed],
    ['compare', ...shown]
  ]);
  expect(await opened(SIDES)).toEqual([['Compare'], ['Compare'], ['compare']]);
});

test('a column that cannot be read when a panel asks for it is named above the panels', async () => {
  const code = { name: 'prefix', kind: 'sym', symbols: [], width: 1, data: Uint8Array.of(3) };
  const host = document.createElement('div');
  document.body.append(host);
  const report = new SavedReport(host);
  const graph = encode({ table: 'graph', rows: 1, columns: [code] });
  await report.open([deflateSync(joined(TASK, graph)).toString('base64')]);
  const notes = [...host.querySelectorAll('.di-saved-note:not([hidden])')];
  expect(notes.map(each => each.textContent)).toEqual([
    'Columns of this report cannot be read and are missing here: graph.prefix: column prefix: a code without a symbol.'
  ]);
  report.dispose();
  host.remove();
});

test('data are found in HTML as it stands and in an attribute of it', () => {
  const one = '<script type=application/octet-stream class=batches data-part=first id=first-0>QUJD</script>';
  const two = '<script type=application/octet-stream class=batches data-part=rest id=rest-1>RA==</script>';
  expect(dataBlocks(one + two)).toEqual(['QUJD', 'RA==']);
  const escaped = (one + two).replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  expect(dataBlocks(`<table></table><iframe srcdoc="${escaped}"></iframe>`)).toEqual(['QUJD', 'RA==']);
});

test('other scripts are no data', () => {
  expect(dataBlocks('<script type=application/octet-stream id=style>QUJD</script>')).toEqual([]);
  expect(dataBlocks('<script class=batches data-part=first id=first-0>alert("1")</script>')).toEqual([]);
  expect(dataBlocks('')).toEqual([]);
  const name = '&lt;script class=batches data-part=first id=first-0&gt;QUJD&lt;';
  expect(dataBlocks(`<p>${name}</p><iframe srcdoc=""></iframe>`)).toEqual([]);
});

test('what looks like many blocks and is none is passed over at once', () => {
  expect(dataBlocks(`${'class=batches data-part=rest id=a-1>'.repeat(100_000)}"`)).toEqual([]);
});

test('what is damaged is said in one sentence, of one part or of many', async () => {
  const host = document.createElement('div');
  document.body.append(host);
  const report = new SavedReport(host);
  await report.open(['~']);
  expect(host.querySelector('.di-saved-note')?.textContent).toBe(
    'Damaged and missing here: 1 of 1 part of this report.'
  );
  report.dispose();
  host.remove();
});
