/** Long enough for the response to leave. */
const RESTART_MS = 20;

/** Restarts a Durable Object whose account is erased, so that nothing in memory is written again. */
export const restartErased = (ctx: DurableObjectState): void => {
  setTimeout(() => ctx.abort('The account was erased.'), RESTART_MS);
};

/** Deletes everything that a Durable Object stores, past its journal, and restarts it. */
export const eraseObject = async (ctx: DurableObjectState): Promise<void> => {
  await ctx.storage.deleteAlarm();
  await ctx.storage.deleteAll();
  await ctx.storage.sync();
  restartErased(ctx);
};
