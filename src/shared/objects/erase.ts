/** Long enough for the response to leave. */
const RESTART_MS = 20;

/**
 * Deletes everything that a Durable Object stores, past its journal, and restarts it, so that nothing in memory is written
 * again.
 */
export const eraseObject = async (ctx: DurableObjectState): Promise<void> => {
  await ctx.storage.deleteAlarm();
  await ctx.storage.deleteAll();
  setTimeout(() => ctx.abort('The account was erased.'), RESTART_MS);
};
