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

/** Counting goes on across an upgrade, though the bigger plan has a period of its own. */
const carryUsage = (ledger: Ledger, before: PlanTerms, after: PlanTerms) => {
  const nowMs = Date.now();
  const limitOf = (terms: PlanTerms) => PLANS[effectivePlan(terms, nowMs)].apiLimit;
  if (limitOf(after) <= limitOf(before)) return;
  ledger.carry(periodAt(before, nowMs).startMs, periodAt(after, nowMs).startMs, nowMs);
  ledger.write();
};

/** The whole feed, and the next page of a copy that is not complete. */
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
  // The next pull deletes in D1 what this one has applied, so that has to be on disk.
  await storage.sync();
};
