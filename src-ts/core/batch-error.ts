/** These bytes are not a batch; the message says why. */
export class BatchError extends Error {
  override readonly name = 'BatchError';
}
