import { describe, expect, it } from 'vitest';
import { THIN } from './format';
import { listedSpans, spanName, spansOf } from './spans';
import { recordingOf } from './test-recording';

const recording = recordingOf({
  spans: [
    { span: 'c', name: 'clean', parent: 'a', path: 'load / clean' },
    { span: 'a', name: 'old name', parent: '', path: '' },
    { span: 'b', name: 'fit', parent: 'missing', path: 'fit' },
    { span: 'd', name: 'deep', parent: 'c', path: 'load / clean / deep' },
    { span: 'a', name: 'load', parent: '', path: 'load' },
    { span: 'x', name: 'x', parent: 'y', path: 'x' },
    { span: 'y', name: 'y', parent: 'x', path: 'y' }
  ]
});

describe('spans', () => {
  it('stand before those inside them, and know them', () => {
    expect(spansOf(recording).map(({ id, depth, within }) => [id, depth, within.join()])).toEqual([
      ['a', 0, 'a,c,d'],
      ['c', 1, 'c,d'],
      ['d', 2, 'd'],
      ['b', 0, 'b']
    ]);
  });

  it('that were entered again are one; what ran in none comes last', () => {
    const again = recordingOf({
      spans: [
        { span: '1', name: 'default', parent: '', path: 'default' },
        { span: '2', name: 'load', parent: '', path: 'load' },
        { span: '3', name: 'default', parent: '', path: 'default' },
        { span: '4', name: 'load', parent: '', path: 'load' },
        { span: '5', name: 'clean', parent: '4', path: 'load / clean' }
      ]
    });
    const listed = listedSpans(again).map(({ path, within, entries }) => [
      path,
      within.join(),
      entries.map(each => each.join())
    ]);
    expect(listed).toEqual([
      ['load', '2,4,5', ['2', '4,5']],
      ['load / clean', '5', ['5']],
      ['no span', '1', ['1']],
      ['no span', '3', ['3']]
    ]);
  });

  it('have the name of their newest row', () => {
    expect(spanName(recording, 'a')).toBe('load');
    expect(spanName(recording, 'd')).toBe('load / clean / deep');
    expect(spanName(recording, 'unknown')).toBe('unknown');
  });

  it('without a name say where their computation began', () => {
    const unnamed = recordingOf({
      about: [{ name: 'started', value: '100' }],
      spans: ['1', '2', '3'].map(span => ({ span, name: 'default', path: 'default' })),
      graph: [
        { task: 0, span: '1', submission: 5 },
        { task: 1, span: '1', submission: 6 },
        { task: 2, span: '2', submission: 6 }
      ],
      submissions: [
        { submission: 5, time: 101, execution: 3 },
        { submission: 6, time: 102, function: 'main' }
      ]
    });
    expect(listedSpans(unnamed).map(({ path }) => path)).toEqual([
      `no span, cell [3], at 1${THIN}s`,
      `no span, main, at 2${THIN}s`,
      'no span'
    ]);
  });
});
