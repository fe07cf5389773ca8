import { type Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject, JSONValue } from '@lumino/coreutils';

/** Name of the comm target; `dask_insight/hosts/lab/comm.py` has the same. */
export const TARGET = 'dask_insight';

/** Whether the kernel part sent it: it marks its messages, so that they are known without their comm. */
export function isOurs(
  message: KernelMessage.IIOPubMessage
): message is KernelMessage.ICommOpenMsg<'iopub'> | KernelMessage.ICommMsgMsg<'iopub'> {
  const { msg_type } = message.header;
  return (msg_type === 'comm_open' || msg_type === 'comm_msg') && message.metadata[TARGET] !== undefined;
}

/**
 * Sends a message on a comm over the control channel, which a kernel answers while a cell
 * runs. Only for kernels that have been heard of: others do not expect it there.
 */
export function sendOnComm(kernel: Kernel.IKernelConnection, comm: string, data: JSONObject): void {
  request(kernel, 'comm_msg', { comm_id: comm, data }, false);
}

/** The comms of ours that a kernel has; asked over the control channel too. */
export async function commsOf(kernel: Kernel.IKernelConnection): Promise<string[]> {
  const reply = await request(kernel, 'comm_info_request', { target_name: TARGET }, true);
  const { comms } = (reply?.content ?? {}) as { comms?: Record<string, { target_name: string }> };
  return Object.keys(comms ?? {}).filter(id => comms?.[id].target_name === TARGET);
}

function request(
  kernel: Kernel.IKernelConnection,
  msgType: string,
  content: Record<string, JSONValue>,
  expectReply: boolean
): Promise<KernelMessage.IControlMessage | undefined> {
  // The services know no messages on this channel but their own.
  const message = KernelMessage.createMessage({
    msgType,
    channel: 'control',
    username: kernel.username,
    session: kernel.clientId,
    content
  } as unknown as KernelMessage.IOptions<KernelMessage.IDebugRequestMsg>);
  return kernel.sendControlMessage(message, expectReply, true).done as Promise<
    KernelMessage.IControlMessage | undefined
  >;
}
