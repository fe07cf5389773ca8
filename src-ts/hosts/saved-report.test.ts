import { expect, test } from 'vitest';
import { dataBlocks, SavedReport } from './saved-report';

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
