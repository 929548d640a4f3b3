/**
 * Runs a transaction of a Durable Object that keeps in memory what it writes. If it fails, memory is ahead of the disk, so
 * the object restarts from the disk.
 */
export const writeOrRestart = <T>(ctx: DurableObjectState, write: () => T): T => {
  try {
    return ctx.storage.transactionSync(write);
  } catch (error) {
    ctx.abort(`The object could not write: ${String(error)}`);
    throw error;
  }
};
