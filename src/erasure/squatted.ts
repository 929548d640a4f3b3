import { and, eq, isNull, lte } from 'drizzle-orm';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { accounts, apiKeys } from '../db/schema.ts';
import { commit } from '../gate/worker/feed.ts';
import { deleteEndpoint, listAllEndpoints } from '../webhooks/endpoints.ts';

// Whoever registers an address that isn't theirs leaves keys and webhooks, by which they would read what its owner does.

/** Clocks of the service may differ by as much. */
const CLOCK_MARGIN_MS = 2_000;

const deleteKeys = async (ctx: Ctx, untilMs: number): Promise<void> => {
  const { db, accountId } = ctx;
  const isMade = and(
    eq(apiKeys.accountId, accountId),
    isNull(apiKeys.deletedAt),
    lte(apiKeys.createdAt, untilMs),
  );
  const made = await db.select({ id: apiKeys.id }).from(apiKeys).where(isMade);
  const ids = made.map(({ id }) => id);
  const [first, ...others] = ids;
  if (first === undefined) return;
  const refs = [first, ...others].map((ref) => ({ kind: 'key', ref }) as const);
  await commit(
    ctx,
    [
      audit(ctx, 'api_key.delete', null, { keys: ids }),
      db.update(apiKeys).set({ deletedAt: Date.now(), fingerprint: '', sealed: '' }).where(isMade),
    ],
    refs as [(typeof refs)[0], ...typeof refs],
    { isBeyondLimits: true },
  );
};

/**
 * Ends the API keys and webhooks that were made until a time, by when every session has ended, and settings that serve a thief. A
 * request that goes on after that undoes what it makes (`undoIfEnded`). A repeat after a failure has the same result.
 */
export const endSquatted = async (ctx: Ctx, endedMs: number): Promise<void> => {
  const untilMs = endedMs + CLOCK_MARGIN_MS;
  await deleteKeys(ctx, untilMs);
  const made = (await listAllEndpoints(ctx)).filter(({ createdAtMs }) => createdAtMs <= untilMs);
  // One after the other: an account has at most 20.
  for (const { id } of made) await deleteEndpoint(ctx, id);
  const settings = { mutedEmails: [], allowedOrigins: [] };
  await ctx.db.update(accounts).set(settings).where(eq(accounts.id, ctx.accountId));
};
