import type { KernelMessage } from '@jupyterlab/services';
import { expect, test } from 'vitest';
import { wanted } from './request';

function message(type: string, transient: unknown): KernelMessage.IMessage {
  return {
    header: { msg_type: type },
    content: { data: {}, transient }
  } as unknown as KernelMessage.IMessage;
}

test('only a request of ours opens a panel', () => {
  const asked = { display_id: 'x', dask_insight: { open: 'memory' } };
  expect(wanted(message('update_display_data', asked))).toBe('memory');
  expect(wanted(message('display_data', asked))).toBeUndefined();
  for (const transient of [undefined, {}, { dask_insight: 3 }, { dask_insight: { open: 3 } }]) {
    expect(wanted(message('update_display_data', transient))).toBeUndefined();
  }
});
