import { and, eq, gte, isNull, sql } from 'drizzle-orm';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { accounts, apiKeys, stores } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { AppError } from '../shared/app-error.ts';
import { lockStore } from '../stores/lock.ts';
import { deleteStore } from '../stores/stores.ts';
import { deleteEndpoint, listAllEndpoints, stopEndpoint } from '../webhooks/endpoints.ts';

// Whoever registers an address that isn't theirs, or changes the address of an account that isn't, leaves keys and webhooks, by
// which they would read what its owner does, and stores, to which they would report purchases that nobody has made.

/** Clocks of the service may differ by as much. */
const CLOCK_MARGIN_MS = 2_000;

/** Deletes the keys that were made since then. Returns whether there were any. */
const deleteKeys = async (ctx: Ctx, sinceMs: number): Promise<boolean> => {
  const { db, accountId } = ctx;
  const isMade = and(
    eq(apiKeys.accountId, accountId),
    isNull(apiKeys.deletedAt),
    gte(apiKeys.createdAt, sinceMs),
  );
  const made = await db.select({ id: apiKeys.id }).from(apiKeys).where(isMade);
  const ids = made.map(({ id }) => id);
  const [first, ...others] = ids;
  if (first === undefined) return false;
  // Only those that the gate is told of. A key that is made meanwhile is found by the next call.
  const isListed = and(isMade, sql`${apiKeys.id} ${inJson(ids)}`);
  const refs = [first, ...others].map((ref) => ({ kind: 'key', ref }) as const);
  await commit(
    ctx,
    [
      audit(ctx, 'api_key.delete', null, { keys: ids }),
      db.update(apiKeys).set({ deletedAt: Date.now(), fingerprint: '', sealed: '' }).where(isListed),
    ],
    refs as [(typeof refs)[0], ...typeof refs],
    { isBeyondLimits: true },
  );
  return true;
};

const GONE: ReadonlySet<string> = new Set(['webhook_not_found', 'not_found']);

/** A parallel call may have deleted it. */
const unlessGone = (error: unknown) => {
  if (!(error instanceof AppError && GONE.has(error.code))) throw error;
};

/** Deletes the stores that were made since then, and takes the secrets of those that were changed. What was bought stays. */
const endStores = async (ctx: Ctx, fromMs: number): Promise<void> => {
  const isChanged = and(eq(stores.accountId, ctx.accountId), gte(stores.updatedAt, fromMs));
  for (const store of await ctx.db.select().from(stores).where(isChanged)) {
    if (store.createdAt >= fromMs) await deleteStore(ctx, store.id).catch(unlessGone);
    else if (store.secret !== null || store.apiKey !== null) await lockStore(ctx, store);
  }
};

/**
 * Ends what was made since a time. The caller has ended every session. What was changed since may serve a stranger: webhooks are
 * disabled, and stores lose their secrets. A request that goes on after that undoes what it makes (`undoIfEnded`). A repeat after a
 * failure has the same result.
 */
export const endMade = async (ctx: Ctx, sinceMs: number): Promise<void> => {
  const fromMs = sinceMs - CLOCK_MARGIN_MS;
  // A key that is listed can still be rotated, which makes another one.
  while (await deleteKeys(ctx, fromMs));
  // One after the other: an account has at most 20.
  for (const { id, createdAtMs, updatedAtMs, disabledReason } of await listAllEndpoints(ctx)) {
    if (createdAtMs >= fromMs) await deleteEndpoint(ctx, id).catch(unlessGone);
    else if (updatedAtMs >= fromMs && disabledReason === null) await stopEndpoint(ctx, id);
  }
  await endStores(ctx, fromMs);
};

/** Ends all API keys, webhooks, and stores, and settings that serve a thief. */
export const endSquatted = async (ctx: Ctx): Promise<void> => {
  await endMade(ctx, 0);
  const settings = { mutedEmails: [], allowedOrigins: [] };
  await ctx.db.update(accounts).set(settings).where(eq(accounts.id, ctx.accountId));
};
