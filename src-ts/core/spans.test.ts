import { describe, expect, it } from 'vitest';
import { spanName, spansOf } from './spans';
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

  it('have the name of their newest row', () => {
    expect(spanName(recording, 'a')).toBe('load');
    expect(spanName(recording, 'd')).toBe('load / clean / deep');
    expect(spanName(recording, 'unknown')).toBe('unknown');
  });
});
