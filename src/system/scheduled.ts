import { measureStorage } from '../accounts/measure-storage.ts';
import { tellOfNearlyFull } from '../accounts/nearly-full.ts';
import { pruneAuditLog } from '../audit/prune.ts';
import { backUpNightly } from '../backups/nightly.ts';
import { isBeingRestored } from '../backups/restoring.ts';
import {
  checkPayments,
  checkSubscriptions,
  expireCheckouts,
  refundPayments,
} from '../billing/scheduled/check.ts';
import { tellOfEndingPlans } from '../billing/scheduled/ending.ts';
import { pruneBilling } from '../billing/scheduled/prune.ts';
import { carryOutOperatorChanges } from '../credentials/operator-change.ts';
import { isMoving } from '../databases/fences.ts';
import { type AccountDatabase, accountDatabases, type NamedDatabase } from '../db/client.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { pruneIdempotencyKeys } from '../db/idempotency.ts';
import { beginTurn, endTurn } from '../db/positions.ts';
import { eraseUnverified, tellUnverified } from '../erasure/unverified.ts';
import { wakeErasures } from '../erasure/wake.ts';
import { sendExpiryEvents } from '../licenses/expiry-events.ts';
import { sendHeldNotices } from '../mail/held.ts';
import { finishEmailChanges } from '../self-service/change-email.ts';
import { logError } from '../shared/text/log.ts';
import { hintStores } from '../stores/scheduled/hint.ts';
import { pruneMessages } from '../stores/scheduled/prune.ts';
import { releaseMails } from '../stores/work.ts';
import { copyDueUsers } from '../users/copy.ts';

// The hourly work. The cron trigger only sends a message for each work of each database, so that each has the queries of an
// invocation, and none can use up those of another. They come in any order, and several run at once.

interface WorkCtx extends DatabaseCtx {
  unfenced: AccountDatabase;
}

/**
 * Does a bounded part. Returns true if more is due at once, and only if this part has left less of it: what has failed waits for
 * the next hour.
 */
type Work = (ctx: WorkCtx) => Promise<boolean> | Promise<void>;

/** The operator vouches for an address, so the emails that waited for a proved one can be sent. */
const changeAddresses: Work = (ctx) => carryOutOperatorChanges(ctx, releaseMails);

/** Held notices stay in their database, so no move of an account refuses to note which were sent. */
const sendHeld: Work = ({ env, unfenced }) => sendHeldNotices({ env, db: unfenced });

/** By the names in messages and logs: unlike the names of functions, a bundler doesn't change them. */
const WORK = new Map<string, Work>(
  Object.entries({
    copyDueUsers,
    changeAddresses,
    tellUnverified,
    eraseUnverified,
    wakeErasures,
    sendHeld,
    pruneIdempotencyKeys,
    hintStores,
    pruneMessages,
    pruneBilling,
    expireCheckouts,
    checkPayments,
    checkSubscriptions,
    refundPayments,
    tellOfEndingPlans,
    tellOfNearlyFull,
    pruneAuditLog,
    measureStorage,
    sendExpiryEvents,
    finishEmailChanges,
    backUpNightly,
  }),
);

/** A queue message: a work is due in a database. */
export interface ScheduledHint {
  scheduled_work: string;
  database: string;
}

/** The messages of an hour. */
export const hourlyHints = (env: Env): ScheduledHint[] =>
  accountDatabases(env).flatMap(({ binding }) =>
    [...WORK.keys()].map((name) => ({ scheduled_work: name, database: binding })),
  );

/** The most messages that a queue takes in one call. */
const MAX_BATCH = 100;

/** Runs every hour: see the cron trigger in wrangler.toml. */
export const sendHourlyWork = async (_controller: ScheduledController, env: Env): Promise<void> => {
  const hints = hourlyHints(env);
  for (let i = 0; i < hints.length; i += MAX_BATCH) {
    try {
      await env.WEBHOOKS.sendBatch(hints.slice(i, i + MAX_BATCH).map((body) => ({ body })));
    } catch (error) {
      logError('scheduled_work_not_sent', error);
    }
  }
};

/** While an account moves, its rows are in two databases, whose work waits. */
const isResting = async (env: Env, database: NamedDatabase): Promise<boolean> =>
  accountDatabases(env).length > 1 && (await isMoving(database));

/**
 * One at a time: a queue may hand out a message twice, and an hour may begin before the last one has ended. Otherwise,
 * an owner would get an email twice.
 */
const inTurn = async ({ unfenced }: NamedDatabase, name: string, work: () => Promise<boolean>) => {
  const turn = await beginTurn(unfenced, name);
  if (turn === null) return false;
  try {
    return await work();
  } finally {
    await endTurn(unfenced, name, turn);
  }
};

/**
 * Does what a message tells. Returns whether more is due at once. A failure is only logged, because the next hour continues, and
 * so is what only an older or a newer release knows.
 */
export const doScheduled = async (env: Env, hint: ScheduledHint): Promise<boolean> => {
  const { scheduled_work: name, database: binding } = hint;
  try {
    const work = WORK.get(name);
    const database = accountDatabases(env).find((found) => found.binding === binding);
    if (!work || !database) throw new Error('This release knows no such work, or no such database.');
    if ((await isBeingRestored(env)) || (await isResting(env, database))) return false;
    const { db, unfenced } = database;
    return await inTurn(database, name, async () => (await work({ env, db, unfenced })) === true);
  } catch (error) {
    logError('scheduled_work_failed', error, { database: binding, work: name });
    return false;
  }
};

/** Does what a message tells, and sends it again if more is due. */
export const continueScheduled = async (env: Env, hint: ScheduledHint): Promise<void> => {
  if (!(await doScheduled(env, hint))) return;
  try {
    await env.WEBHOOKS.send(hint);
  } catch (error) {
    logError('scheduled_work_not_sent', error, { database: hint.database, work: hint.scheduled_work });
  }
};
