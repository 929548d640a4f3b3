import { ownValue } from './own-values.ts';

const STORAGE_KEY = ownValue('name');

/**
 * Returns the name of a Durable Object. `ctx.id.name` is missing when an alarm wakes the object after a restart, so the name
 * is also kept in storage.
 */
export const storedName = (ctx: DurableObjectState): string => {
  const stored = ctx.storage.kv.get<string>(STORAGE_KEY);
  if (stored) return stored;
  if (!ctx.id.name) throw new Error('A Durable Object must be addressed by the id of its account.');
  ctx.storage.kv.put(STORAGE_KEY, ctx.id.name);
  return ctx.id.name;
};
