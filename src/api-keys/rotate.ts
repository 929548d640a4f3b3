import { and, eq, exists, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditAsRead, untilAsRead } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys, type ApiKeyRow } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { undoIfEnded } from '../sessions/caller.ts';
import { AppError } from '../shared/app-error.ts';
import { HOUR_MS } from '../shared/rules/dates.ts';
import { newApiKey } from './create.ts';
import { deleteStatements } from './delete.ts';
import { findApiKey } from './find.ts';
import { pruneKeys } from './prune.ts';
import { accountWithRoom, refuseWithoutRoom } from './room.ts';
import type { rotateApiKeyInput } from './schemas.ts';

/** A gate's clock may be behind this one. Without an overlap, the old key must not outlive the answer there. */
const CLOCK_MARGIN_MS = 2_000;

/** Returns when a live key expires. */
const expiryOfLive = async (ctx: Ctx, id: string, nowMs: number): Promise<number | null> => {
  const { expiresAt } = await findApiKey(ctx, id);
  if (expiresAt === null || expiresAt > nowMs) return expiresAt;
  throw new AppError('invalid_transition', { message: 'This API key has expired. Create a new one.' });
};

/** A statement that inserts a copy of a key with columns of its own. */
const insertCopy = (
  { db }: Ctx,
  columns: Partial<Record<keyof ApiKeyRow, unknown>>,
  isSource: SQL | undefined,
) => {
  const own = Object.entries(columns).map(([name, value]) => [name, sql`${value}`.as(name)]);
  const fields = { ...getTableColumns(apiKeys), ...(Object.fromEntries(own) as object) };
  return db.insert(apiKeys).select(db.select(fields).from(apiKeys).where(isSource)).returning();
};

interface Expiry {
  before: number | null;
  after: number;
}

/** Deletes the new key, and lets the old one expire as before, unless something else has changed when it does. */
const undoRotation = async (
  ctx: Ctx,
  id: string,
  newId: string,
  { before, after }: Expiry,
): Promise<void> => {
  const isAsLeft = and(
    eq(apiKeys.accountId, ctx.accountId),
    eq(apiKeys.id, id),
    eq(apiKeys.expiresAt, after),
  );
  await commit(
    ctx,
    [
      // First, because pruning may delete the row of an expired key.
      ctx.db.update(apiKeys).set({ expiresAt: before }).where(isAsLeft),
      ...deleteStatements(ctx, newId),
    ],
    [
      { kind: 'key', ref: newId },
      { kind: 'key', ref: id },
    ],
    { isBeyondLimits: true },
  );
};

/** Creates a key with the settings of another, which expires after the overlap. */
export const rotateApiKey = async (
  ctx: Ctx,
  id: string,
  { overlap_hours: overlapHours }: z.output<typeof rotateApiKeyInput>,
) => {
  const { apiKey, columns } = await newApiKey(ctx);
  // Another request may delete or expire the key in the meantime.
  const { expiry, ...rotated } = await untilAsRead(async () => {
    const nowMs = Date.now();
    const before = await expiryOfLive(ctx, id, nowMs);
    const isAsRead = and(
      eq(apiKeys.accountId, ctx.accountId),
      eq(apiKeys.id, id),
      isNull(apiKeys.deletedAt),
      sql`${apiKeys.expiresAt} IS ${before}`,
    );
    const found = exists(ctx.db.select({ id: apiKeys.id }).from(apiKeys).where(isAsRead));
    const details = { new_key: columns.id, overlap_hours: overlapHours };
    const accountId = accountWithRoom(ctx, nowMs, overlapHours === 0 ? id : null);
    const endsAt = overlapHours === 0 ? nowMs - CLOCK_MARGIN_MS : nowMs + overlapHours * HOUR_MS;
    const after = Math.min(before ?? endsAt, endsAt);
    const expire = ctx.db.update(apiKeys).set({ expiresAt: after }).where(isAsRead);
    const [, [row]] = await commit(
      ctx,
      [
        auditAsRead(ctx, found, 'api_key.rotate', id, details),
        insertCopy(ctx, { ...columns, accountId, expiresAt: null }, isAsRead),
        expire,
        ...pruneKeys(ctx, nowMs),
      ],
      [
        { kind: 'key', ref: columns.id },
        { kind: 'key', ref: id },
      ],
    ).catch(refuseWithoutRoom);
    if (!row) throw new Error(`The key ${id} was not rotated.`);
    return { row, apiKey, expiry: { before, after } };
  });
  // Nobody has the key before the answer.
  await undoIfEnded(ctx, (plain) => undoRotation(plain, id, columns.id, expiry));
  return rotated;
};
