import type { Database } from '../db/client.ts';
import { effectivePlan, PLANS, type PlanTerms } from '../shared/rules/plans.ts';
import type { Copy } from './copy.ts';
import type { Ledger } from './ledger.ts';
import type { Outgoing } from './outgoing.ts';
import { periodAt } from './period.ts';
import { readFeed, readPage } from './source.ts';

interface Parts {
  storage: DurableObjectStorage;
  db: Database;
  accountId: string;
  copy: Copy;
  outgoing: Outgoing;
  ledger: Ledger;
}

/** Carries the usage over on an upgrade, because the new plan starts its own period. */
const carryUsage = (ledger: Ledger, before: PlanTerms, after: PlanTerms) => {
  const nowMs = Date.now();
  const limitOf = (terms: PlanTerms) => PLANS[effectivePlan(terms, nowMs)].apiLimit;
  if (limitOf(after) <= limitOf(before)) return;
  ledger.carry(periodAt(before, nowMs).startMs, periodAt(after, nowMs).startMs, nowMs);
  ledger.write();
};

/** Applies the whole feed, and one more page of the background load while the copy is incomplete. */
export const catchUp = async ({ storage, db, accountId, copy, outgoing, ledger }: Parts): Promise<void> => {
  for (let more = true; more;) {
    const changes = await readFeed(db, accountId, copy.progress().appliedSeq);
    const { lastSeq, rows, events } = changes;
    if (lastSeq !== null) {
      const before = copy.account();
      storage.transactionSync(() => {
        copy.apply(rows, lastSeq);
        outgoing.insert(events);
        if (before && rows.account) carryUsage(ledger, before, rows.account);
      });
    }
    more = changes.more;
  }
  const { complete, loadedThrough } = copy.progress();
  if (!complete) {
    const page = await readPage(db, accountId, loadedThrough);
    storage.transactionSync(() => copy.adoptPage(page.rows, page.last));
  }
  // The next pull deletes the applied feed rows in D1, so the changes must be on disk by then.
  await storage.sync();
};
