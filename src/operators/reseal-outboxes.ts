import { and, asc, count, gt, lt } from 'drizzle-orm';
import { accountDatabases, firstDatabase } from '../db/client.ts';
import { findPositions, savePosition } from '../db/positions.ts';
import { accounts } from '../db/schema.ts';
import { seal, sealingKeyOf, type SealingRing, unseal } from '../shared/crypto/sealing.ts';
import { outboxOf } from '../shared/objects/address.ts';
import { firstIdAt } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';

// Nothing but the outboxes themselves knows which of them have webhook secrets, so a run visits the outbox of every account
// that was created before it began. Later secrets are sealed with the current key anyway.

const OUTBOXES_PER_CALL = 200;
const OUTBOXES_AT_ONCE = 20;

const WORK = 'reseal';

interface Run {
  /** The sealing key that was current when the run began. */
  key: string;
  /** The accounts from `through`, excluding it, to `until` are still to be visited. */
  through: string;
  until: string;
  /** Secrets that can't be unsealed. */
  unreadable: number;
  /** The accounts through `through` whose outbox has failed. A run of an earlier version has none. */
  failed?: string[];
}

const readRun = async (env: Env, { current }: SealingRing, restarts: boolean): Promise<Run> => {
  const run = (await findPositions<Run>(firstDatabase(env), [WORK])).get(WORK);
  if (run?.key === current && !restarts) return run;
  return { key: current, through: '', until: firstIdAt('acct', Date.now()), unreadable: 0 };
};

const saveRun = (env: Env, run: Run): Promise<void> => savePosition(firstDatabase(env), WORK, run);

/** Seals the webhook secrets of an account again. Returns how many can't be unsealed. */
const resealOutbox = async (env: Env, ring: SealingRing, accountId: string): Promise<number> => {
  const outbox = outboxOf(env, accountId);
  const replacements: [string, string][] = [];
  let unreadable = 0;
  for (const endpoint of await outbox.listEndpoints()) {
    for (const { sealedSecret } of [endpoint, ...endpoint.earlierSecrets]) {
      if (sealingKeyOf(sealedSecret) === ring.current) continue;
      const owner = [accountId, endpoint.id];
      try {
        const secret = await unseal(ring, sealedSecret, owner);
        replacements.push([sealedSecret, await seal(ring, secret, owner)]);
      } catch (error) {
        logError('reseal_failed', error, { account_id: accountId, webhook_id: endpoint.id });
        unreadable++;
      }
    }
  }
  if (replacements.length > 0) await outbox.replaceSealed(replacements);
  return unreadable;
};

/** Visits outboxes. Returns how many secrets can't be unsealed, and the accounts whose outbox has failed. */
const visit = async (env: Env, ring: SealingRing, ids: string[]) => {
  const failed: string[] = [];
  const unreadable = ids.map(async (id) => {
    try {
      return await resealOutbox(env, ring, id);
    } catch (error) {
      logError('reseal_failed', error, { account_id: id });
      failed.push(id);
      return 0;
    }
  });
  return { unreadable: (await Promise.all(unreadable)).reduce((sum, n) => sum + n, 0), failed };
};

const isToVisit = ({ through, until }: Run) => and(gt(accounts.id, through), lt(accounts.id, until));

const nextAccounts = async (env: Env, run: Run): Promise<string[]> => {
  const found = accountDatabases(env).map(({ db }) =>
    db
      .select({ id: accounts.id })
      .from(accounts)
      .where(isToVisit(run))
      .orderBy(asc(accounts.id))
      .limit(OUTBOXES_PER_CALL),
  );
  // In one order, because an account that has moved may be older than all others of its database.
  const ids = new Set((await Promise.all(found)).flat().map(({ id }) => id));
  return [...ids].toSorted().slice(0, OUTBOXES_PER_CALL);
};

/**
 * Visits the next outboxes, and those that have failed again once all were visited: one that fails for good keeps no other from
 * its turn. Returns how many secrets and accounts are left.
 */
export const resealOutboxes = async (env: Env, ring: SealingRing, restarts: boolean): Promise<number> => {
  const run = await readRun(env, ring, restarts);
  const next = await nextAccounts(env, run);
  const ids = next.length > 0 ? next : (run.failed ?? []).slice(0, OUTBOXES_PER_CALL);
  for (let i = 0; i < ids.length; i += OUTBOXES_AT_ONCE) {
    const group = ids.slice(i, i + OUTBOXES_AT_ONCE);
    const { unreadable, failed } = await visit(env, ring, group);
    if (next.length > 0) run.through = group.at(-1) ?? run.through;
    run.unreadable += unreadable;
    // Behind the others, which are tried first.
    run.failed = [...(run.failed ?? []).filter((id) => !group.includes(id)), ...failed];
    await saveRun(env, run);
  }
  if (ids.length === 0) await saveRun(env, run);
  const counts = await Promise.all(
    accountDatabases(env).map(({ db }) => db.select({ n: count() }).from(accounts).where(isToVisit(run))),
  );
  const notSealed = run.unreadable + (run.failed ?? []).length;
  return counts.reduce((sum, [row]) => sum + (row?.n ?? 0), notSealed);
};
