import { measureStorage } from '../accounts/measure-storage.ts';
import { tellOfNearlyFull } from '../accounts/nearly-full.ts';
import { pruneAuditLog } from '../audit/prune.ts';
import { backUpNightly } from '../backups/nightly.ts';
import { isBeingRestored } from '../backups/restoring.ts';
import { checkDue } from '../billing/scheduled/check.ts';
import { tellOfEndingPlans } from '../billing/scheduled/ending.ts';
import { pruneBilling } from '../billing/scheduled/prune.ts';
import { carryOutOperatorChanges } from '../credentials/operator-change.ts';
import { isMoving } from '../databases/fences.ts';
import { type AccountDatabase, accountDatabases, type NamedDatabase } from '../db/client.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { pruneIdempotencyKeys } from '../db/idempotency.ts';
import { eraseUnverified } from '../erasure/unverified.ts';
import { wakeErasures } from '../erasure/wake.ts';
import { sendExpiryEvents } from '../licenses/expiry-events.ts';
import { sendHeldNotices } from '../mail/held.ts';
import { finishEmailChanges } from '../self-service/change-email.ts';
import { logError } from '../shared/text/log.ts';
import { hintStores } from '../stores/scheduled/hint.ts';
import { pruneMessages } from '../stores/scheduled/prune.ts';
import { releaseMails } from '../stores/work.ts';
import { copyDueUsers } from '../users/copy.ts';

/** The operator vouches for an address, so the emails that waited for a proved one can be sent. */
const changeAddresses = (ctx: DatabaseCtx) => carryOutOperatorChanges(ctx, releaseMails);

/** Held notices stay in their database, so no move of an account refuses to note which were sent. */
const sendHeld = ({ env, unfenced }: { env: Env; unfenced: AccountDatabase }) =>
  sendHeldNotices({ env, db: unfenced });

/** Erasures go first, because the others can use up the queries that D1 allows in a run. */
const WORK = [
  copyDueUsers,
  changeAddresses,
  eraseUnverified,
  wakeErasures,
  sendHeld,
  pruneIdempotencyKeys,
  hintStores,
  pruneMessages,
  pruneBilling,
  checkDue,
  tellOfEndingPlans,
  tellOfNearlyFull,
  pruneAuditLog,
  measureStorage,
  sendExpiryEvents,
  finishEmailChanges,
  backUpNightly,
];

/** While an account moves, its rows are in two databases, whose work waits. */
const isResting = async (env: Env, database: NamedDatabase): Promise<boolean> => {
  try {
    return accountDatabases(env).length > 1 && (await isMoving(database));
  } catch (error) {
    logError('scheduled_work_failed', error, { database: database.binding, work: isMoving.name });
    return false;
  }
};

/** A failure is only logged, because the next run continues. */
const runWork = async (env: Env, database: NamedDatabase): Promise<void> => {
  const { binding, db, unfenced } = database;
  if ((await isBeingRestored(env)) || (await isResting(env, database))) return;
  for (const work of WORK) {
    try {
      await work({ env, db, unfenced });
    } catch (error) {
      logError('scheduled_work_failed', error, { database: binding, work: work.name });
    }
  }
};

/** Runs every hour: see the cron trigger in wrangler.toml. */
export const runScheduled = async (_controller: ScheduledController, env: Env): Promise<void> => {
  await Promise.all(accountDatabases(env).map((database) => runWork(env, database)));
};
