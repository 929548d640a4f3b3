import type { AccountDatabase } from '../../db/client.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import { effectivePlan, PLANS, type PlanTerms } from '../../shared/rules/plans.ts';
import type { Activations } from './activations.ts';
import type { Copy } from './copy.ts';
import type { Ledger } from '../object/ledger.ts';
import type { Outgoing } from '../object/outgoing.ts';
import { periodAt } from '../rules/period.ts';
import { changedRows } from './changed-rows.ts';
import type { HomeBranches } from './branches.ts';
import { type FeedRead, readFeed, readPage } from './source.ts';
import type { Upkeep } from './upkeep.ts';

interface Parts {
  ctx: DurableObjectState;
  db: () => AccountDatabase;
  accountId: string;
  copy: Copy;
  outgoing: Outgoing;
  ledger: Ledger;
  activations: Activations;
  upkeep: Upkeep;
  branches: HomeBranches;
}

/** Carries the usage over on an upgrade, because the new plan starts its own period. */
const carryUsage = (ledger: Ledger, branches: HomeBranches, before: PlanTerms, after: PlanTerms) => {
  const nowMs = Date.now();
  const limitOf = (terms: PlanTerms) => PLANS[effectivePlan(terms, nowMs)].apiLimit;
  if (limitOf(after) <= limitOf(before)) return;
  const { startMs } = periodAt(before, nowMs);
  ledger.carry(startMs, periodAt(after, nowMs).startMs, nowMs, branches.exposureIn(startMs));
  ledger.write();
};

/** Applies what was read from the feed, and keeps the copy loading until it is complete. */
export const openCatchUp = (parts: Parts) => {
  const { ctx, db, accountId, copy, outgoing, ledger, activations, upkeep, branches } = parts;

  /** Changes the copy, and the usage with the account's plan. */
  const write = (change: () => void) =>
    writeOrRestart(ctx, () => {
      const before = copy.account();
      change();
      const after = copy.account();
      if (before && after) carryUsage(ledger, branches, before, after);
    });

  /** Returns whether the feed has to be read again. */
  const apply = ({ continues, after, position, rows, events, more }: FeedRead): boolean => {
    const { appliedSeq } = copy.progress();
    // Read before the copy was dropped or restarted: it lacks the rows up to `after`.
    if (after > appliedSeq) return true;
    if (!continues && after === appliedSeq) {
      writeOrRestart(ctx, () => {
        copy.restart();
        branches.logReload();
      });
      upkeep.planLoad();
      return true;
    }
    // A read that overtook this one has applied its rows already, and newer states of them.
    if (!position || position.appliedSeq <= appliedSeq) return more;
    write(() => {
      if (branches.isAnyOpen()) branches.log(changedRows(copy, rows));
      copy.apply(rows, position);
      outgoing.insert(events);
      upkeep.noteApplied(new Set([...rows.keys, ...rows.licenses].map(({ id }) => id)));
      const deletedIds = rows.keys.filter(({ deleted }) => deleted).map(({ id }) => id);
      for (const id of rows.deletedLicenses) activations.eraseLicense(id);
      if (deletedIds.length > 0) ledger.forgetKeys([...deletedIds, ...copy.pruneDeletedKeys()]);
    });
    return more;
  };

  const loadPage = async () => {
    const loadedThrough = copy.loadPosition();
    if (loadedThrough === null) return;
    const { appliedSeq } = copy.progress();
    const page = await readPage(db(), accountId, loadedThrough);
    // A restart has begun another load meanwhile.
    if (copy.loadPosition() === loadedThrough) {
      write(() => {
        copy.adoptPage(page.rows, page.last, appliedSeq);
        if (page.last) branches.logReload();
      });
    }
    upkeep.planLoad();
  };

  return {
    apply,

    /** Applies the whole feed, and loads the next page of an incomplete copy. */
    pull: async (): Promise<void> => {
      while (apply(await readFeed(db(), accountId, copy.progress())));
      // The next read deletes the applied rows in D1, so the changes must be on disk by then.
      await ctx.storage.sync();
      if (!copy.progress().complete) await loadPage();
      await upkeep.arm();
    },

    /** Adds the next page of a load to the copy. */
    loadPage,
  };
};

export type CatchUp = ReturnType<typeof openCatchUp>;
