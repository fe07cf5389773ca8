import type { KernelMessage } from '@jupyterlab/services';
import { expect, test } from 'vitest';
import { wanted } from './request';

function message(type: string, transient: unknown): KernelMessage.IMessage {
  return {
    header: { msg_type: type },
    parent_header: { session: 'here' },
    content: { data: {}, transient }
  } as unknown as KernelMessage.IMessage;
}

test('only a request of ours opens a panel', () => {
  const asked = { display_id: 'x', dask_insight: { open: 'memory' } };
  expect(wanted(message('update_display_data', asked), 'here')).toBe('memory');
  expect(wanted(message('display_data', asked), 'here')).toBeUndefined();
  for (const transient of [undefined, {}, { dask_insight: 3 }, { dask_insight: { open: 3 } }]) {
    expect(wanted(message('update_display_data', transient), 'here')).toBeUndefined();
  }
});

test('it opens where the cell is that asked, and in no other document or page on its kernel', () => {
  const asked = message('update_display_data', { dask_insight: { open: 'memory' } });
  expect(wanted(asked, 'elsewhere')).toBeUndefined();
  expect(wanted(asked, undefined)).toBeUndefined();
});
