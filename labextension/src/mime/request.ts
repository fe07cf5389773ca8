import type { KernelMessage } from '@jupyterlab/services';

/**
 * Id of the panel that a message asks for; `dask_insight/hosts/magic/run.py` sends it. Other documents and pages that show
 * the kernel hear the message, too: it is meant for the client whose cell asks.
 */
export function wanted(message: KernelMessage.IMessage, client: string | undefined): string | undefined {
  if (message.header.msg_type !== 'update_display_data') return undefined;
  if ((message.parent_header as { session?: string }).session !== client) return undefined;
  const { transient } = message.content as { transient?: { dask_insight?: { open?: unknown } } };
  const open = transient?.dask_insight?.open;
  return typeof open === 'string' ? open : undefined;
}
