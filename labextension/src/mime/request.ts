import type { KernelMessage } from '@jupyterlab/services';

/** Id of the panel that a message asks for; `dask_insight/hosts/magic/run.py` sends it. */
export function wanted(message: KernelMessage.IMessage): string | undefined {
  if (message.header.msg_type !== 'update_display_data') return undefined;
  const { transient } = message.content as { transient?: { dask_insight?: { open?: unknown } } };
  const open = transient?.dask_insight?.open;
  return typeof open === 'string' ? open : undefined;
}
