import { and, eq, exists, gt, inArray, lt, or, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { PublicCtx } from '../db/ctx.ts';
import { throttles } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { createLru } from '../shared/memory/lru.ts';
import type { Limit, AttemptOutcome } from './limits.ts';

type ThrottleCtx = Pick<PublicCtx, 'firstDb'>;

const bucketOf = ({ name, subject }: Limit) => sha256(`${name}\n${subject}`);

/** An admitted attempt in one bucket. It is pending until it is settled. */
export interface AttemptReservation {
  limit: Limit;
  bucket: string;
  /** The attempts that the bucket counts, with this one if it counts in any case. */
  attempts: number;
  expiresAt: number;
}

interface BucketState {
  bucket: string;
  attempts: number;
  expiresAt: number;
}

const MAX_FULL_BUCKETS = 10_000;
/** The full buckets of this isolate. Nothing empties one before it expires, but a better plan may allow more attempts in it. */
const fullBuckets = createLru<BucketState>(MAX_FULL_BUCKETS);

const refuseUntil = (expiresAt: number, nowMs: number) => {
  const retryAfterSeconds = Math.max(1, Math.ceil((expiresAt - nowMs) / 1_000));
  return new AppError('rate_limit_exceeded', { retryAfterSeconds });
};

/** When an attempt that was refused may be made again, or null if it has failed for another reason. */
export const retryTimeOf = (error: unknown): number | null => {
  if (!(error instanceof AppError) || error.code !== 'rate_limit_exceeded') return null;
  return Date.now() + (error.options.retryAfterSeconds ?? 1) * 1_000;
};

const refuseFull = (limits: Limit[], nowMs: number) => {
  const latest = Math.max(
    ...limits.map((limit) => {
      const full = fullBuckets.get(bucketOf(limit));
      return full && full.attempts >= limit.attempts ? full.expiresAt : 0;
    }),
  );
  if (latest > nowMs) throw refuseUntil(latest, nowMs);
};

/** Much longer than an attempt takes. A later one has died with its isolate, and would take up room for the window. */
const PENDING_MS = 60_000;

/** Adds the attempt to every bucket, or to none of them if one is full. Pending attempts take up room. */
const reserve = ({ firstDb }: ThrottleCtx, limits: Limit[], nowMs: number) => {
  const wanted = limits.map((limit) => {
    const [attempts, pending] = limit.counts === 'all' ? [1, 0] : [0, 1];
    return sql`(${bucketOf(limit)}, ${attempts}, ${nowMs + limit.windowMs}, ${pending}, ${limit.attempts})`;
  });
  const livePending = (table: SQL) => sql`iif(${table}.pending_until > ${nowMs}, ${table}.pending, 0)`;
  const stillPending = livePending(sql`throttles`);
  const isOver = sql`(throttles.expires_at <= ${nowMs} OR throttles.attempts + ${stillPending} = 0)`;
  const row = selectRow(throttles, {
    bucket: sql`bucket`,
    attempts: sql`attempts`,
    expiresAt: sql`expires_at`,
    pending: sql`pending`,
    pendingUntil: nowMs + PENDING_MS,
  });
  return firstDb
    .insert(throttles)
    .select(
      sql`WITH wanted (bucket, attempts, expires_at, pending, max_attempts) AS (VALUES ${sql.join(wanted, sql`, `)})
        ${row} FROM wanted WHERE NOT EXISTS (
          SELECT 1 FROM wanted CROSS JOIN throttles AS t ON t.bucket = wanted.bucket
          WHERE t.expires_at > ${nowMs} AND t.attempts + ${livePending(sql`t`)} >= wanted.max_attempts
        )`,
    )
    .onConflictDoUpdate({
      target: throttles.bucket,
      set: {
        attempts: sql`CASE WHEN ${isOver} THEN 0 ELSE throttles.attempts END + excluded.attempts`,
        pending: sql`CASE WHEN ${isOver} THEN 0 ELSE ${stillPending} END + excluded.pending`,
        pendingUntil: sql`excluded.pending_until`,
        expiresAt: sql`CASE WHEN ${isOver} THEN excluded.expires_at ELSE throttles.expires_at END`,
      },
    })
    .returning({
      bucket: throttles.bucket,
      attempts: throttles.attempts,
      expiresAt: throttles.expiresAt,
    });
};

const liveBuckets = ({ firstDb }: ThrottleCtx, buckets: string[], nowMs: number) =>
  firstDb
    .select({ bucket: throttles.bucket, attempts: throttles.attempts, expiresAt: throttles.expiresAt })
    .from(throttles)
    .where(and(inArray(throttles.bucket, buckets), gt(throttles.expiresAt, nowMs)));

/** Remembers the buckets that are full even if every pending attempt turns out not to count. */
const rememberFull = (limits: Limit[], states: BucketState[]) => {
  const maxAttempts = new Map(limits.map((limit) => [bucketOf(limit), limit.attempts]));
  for (const state of states) {
    if (state.attempts >= (maxAttempts.get(state.bucket) ?? Infinity)) fullBuckets.set(state.bucket, state);
  }
};

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 1_000;
const MAX_WAITS = 24;

/** Waiting attempts of this isolate. Each of them queries D1 about once a second. */
const MAX_WAITING = 100;
let waiting = 0;

/** Waits before the next try. Throws if too many attempts are waiting. */
const waitForTry = async (tries: number) => {
  if (waiting >= MAX_WAITING) throw refuseUntil(0, Date.now());
  waiting++;
  try {
    await scheduler.wait(Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MAX_WAIT_MS));
  } finally {
    waiting--;
  }
};

/**
 * Reserves an attempt before the expensive work starts, so that parallel attempts can't exceed a limit. Throws if a
 * limit is reached. While only pending attempts stand in the way, waits until they are settled.
 */
export const consumeAttempts = async (ctx: ThrottleCtx, limits: Limit[]): Promise<AttemptReservation[]> => {
  const buckets = limits.map(bucketOf);
  for (let tries = 0; tries <= MAX_WAITS; tries++) {
    if (tries > 0) await waitForTry(tries);
    const nowMs = Date.now();
    refuseFull(limits, nowMs);
    const [reserved, states] = await ctx.firstDb.batch([
      reserve(ctx, limits, nowMs),
      liveBuckets(ctx, buckets, nowMs),
    ]);
    if (reserved.length > 0) {
      const rows = new Map(reserved.map((row) => [row.bucket, row]));
      return limits.map((limit) => {
        const bucket = bucketOf(limit);
        return { attempts: 0, expiresAt: 0, ...rows.get(bucket), limit, bucket };
      });
    }
    rememberFull(limits, states);
    refuseFull(limits, nowMs);
  }
  throw refuseUntil(0, Date.now());
};

/** Statements that settle an attempt: it stops being pending, and counts in the buckets for its outcome. */
export const settlements = (
  { firstDb }: PublicCtx,
  reservations: AttemptReservation[],
  outcome: AttemptOutcome,
) =>
  reservations.map(({ limit, bucket, expiresAt }) =>
    firstDb
      .update(throttles)
      .set({
        attempts: sql`${throttles.attempts} + ${limit.counts === outcome ? 1 : 0}`,
        pending: sql`max(0, ${throttles.pending} - 1)`,
      })
      // A bucket whose window has ended since may already count the attempts of the next window.
      .where(and(eq(throttles.bucket, bucket), eq(throttles.expiresAt, expiresAt)))
      .returning({
        bucket: throttles.bucket,
        attempts: throttles.attempts,
        expiresAt: throttles.expiresAt,
      }),
  );

/** Whether the owner is told of the attempt that a batch has just settled as counting, as a condition for what follows in it. */
export const isToTell = ({ firstDb }: ThrottleCtx, reservations: AttemptReservation[]): SQL => {
  const reached = reservations.flatMap(({ limit: { tellEach }, bucket, expiresAt }) => {
    const isBucket = and(eq(throttles.bucket, bucket), eq(throttles.expiresAt, expiresAt));
    return tellEach ? [and(isBucket, sql`${throttles.attempts} % ${tellEach} = 0`)] : [];
  });
  const isReached = or(...reached) ?? sql`false`;
  return exists(firstDb.select({ bucket: throttles.bucket }).from(throttles).where(isReached));
};

/** Settles an attempt. `statements` are committed with it. Returns whether the owner is told: see `isToTell`. */
export const settleAttempt = async (
  ctx: PublicCtx,
  reservations: AttemptReservation[],
  outcome: AttemptOutcome,
  statements: BatchItem<'sqlite'>[] = [],
): Promise<boolean> => {
  const results = await ctx.firstDb.batch([
    deleteExpiredThrottles(ctx, Date.now()),
    ...settlements(ctx, reservations, outcome),
    ...statements,
  ]);
  const states = results.slice(1, reservations.length + 1).flat() as BucketState[];
  const limits = reservations.map(({ limit }) => limit);
  rememberFull(limits, states);
  const countOf = new Map(states.map(({ bucket, attempts }) => [bucket, attempts]));
  return reservations.some(({ limit: { counts, tellEach }, bucket }) => {
    const count = countOf.get(bucket);
    return counts === outcome && !!tellEach && count !== undefined && count % tellEach === 0;
  });
};

/** Limits the work of one request. Each attempt adds at most four rows, so the table still shrinks. */
const MAX_DELETED = 100;

export const deleteExpiredThrottles = ({ firstDb }: PublicCtx, nowMs: number) => {
  const expired = firstDb
    .select({ bucket: throttles.bucket })
    .from(throttles)
    .where(lt(throttles.expiresAt, nowMs))
    .limit(MAX_DELETED);
  return firstDb.delete(throttles).where(inArray(throttles.bucket, expired));
};
