import { describe, expect, it } from 'vitest';
import { namedSpans, spanName, spansOf } from './spans';
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

  it('that were entered again are one; without names there are none', () => {
    const again = recordingOf({
      spans: [
        { span: '1', name: 'default', parent: '', path: 'default' },
        { span: '2', name: 'load', parent: '', path: 'load' },
        { span: '3', name: 'default', parent: '', path: 'default' },
        { span: '4', name: 'load', parent: '', path: 'load' },
        { span: '5', name: 'clean', parent: '4', path: 'load / clean' }
      ]
    });
    expect(namedSpans(again).map(({ path, within }) => [path, within.join()])).toEqual([
      ['default', '1,3'],
      ['load', '2,4,5'],
      ['load / clean', '5']
    ]);
    const unnamed = recordingOf({ spans: [{ span: '1', name: 'default', path: 'default' }] });
    expect(namedSpans(unnamed)).toEqual([]);
  });

  it('have the name of their newest row', () => {
    expect(spanName(recording, 'a')).toBe('load');
    expect(spanName(recording, 'd')).toBe('load / clean / deep');
    expect(spanName(recording, 'unknown')).toBe('unknown');
  });
});
