import { databaseOf } from '../../db/client.ts';
import { openStateReport, USUAL } from '../../db/object-state.ts';
import { settingsOf } from '../../shared/config/settings.ts';
import { coalesce } from '../../shared/objects/coalesce.ts';
import { branchOf, FIRST_EPOCH } from '../../shared/objects/address.ts';
import { openActivations } from './activations.ts';
import { openAdmission } from '../object/admission.ts';
import { openAnswers } from '../object/answers.ts';
import { openApplications } from './applications.ts';
import { openCalls } from './calls.ts';
import { openCatchUp } from './catch-up.ts';
import { openChangeCalls } from './change-calls.ts';
import { openChanges } from './changes.ts';
import { openCopy } from './copy.ts';
import { openLedger } from '../object/ledger.ts';
import type { Moving, Served } from '../moving/moving.ts';
import { openOutgoing } from '../object/outgoing.ts';
import { openReadThrough } from './read-through.ts';
import { openHomeBranches } from './branches.ts';
import { seatRef } from '../rules/near.ts';
import { openTrafficTable } from './traffic-table.ts';
import { openRelay } from '../object/relay.ts';
import { openSellerCalls } from './seller-calls.ts';
import { openSessionAdmission } from './session-rate.ts';
import { openStatistics } from './statistics.ts';
import { openTraces } from './traces.ts';
import { openUpkeep } from './upkeep.ts';
import { openUsage } from '../object/usage.ts';
import { openUsageThreshold } from './usage-threshold.ts';
import type { UsageAt } from '../rules/usage.ts';

/** Opens the parts of an account's gate on its storage. */
export const openParts = (
  ctx: DurableObjectState,
  env: Env,
  accountId: string,
  epoch: number,
  moving: Pick<Moving, 'isLeaving' | 'formerEpochs'>,
) => {
  const { storage } = ctx;
  const settings = settingsOf(env);
  // Opened on use, because a verify needs no database.
  const db = () => databaseOf(env, accountId);
  const copy = openCopy(storage.sql, settings.gateEpoch);
  const traffic = openTrafficTable(storage.sql);
  const ledger = openLedger(storage.sql, (days) => traffic.addPast(days, Date.now()));
  const activations = openActivations(storage.sql);
  const outgoing = openOutgoing(storage.sql);
  const upkeep = openUpkeep(storage, copy, outgoing);
  const relay = openRelay({ ctx, env, accountId, outgoing, upkeep });
  const noteUsage = openUsageThreshold({ copy, ledger, outgoing });
  const branches = openHomeBranches({
    ctx,
    settings,
    copy,
    ledger,
    usageAt: (nowMs) => usageAt(nowMs),
    noteUsage,
    writeCounts: () => flush(),
    relaySoon: relay.soon,
    wantsVerified: relay.wantsVerified,
    tell: async (region, update) => {
      const report = await branchOf(env, accountId, region).tell(update);
      if (moving.isLeaving()) throw new Error('The account is moving to another object.');
      return report;
    },
  });
  const applications = openApplications({
    ctx,
    copy,
    activations,
    outgoing,
    logSeat: ({ licenseKey }, fingerprint, isTaken) =>
      branches.log([{ kind: 'seat', ref: seatRef(licenseKey, fingerprint), isNew: isTaken }]),
  });
  const usageAt: UsageAt = openUsage(copy, branches.callsIn);
  const admission = openAdmission(copy, branches.homeShare);
  const ensureKnown = openReadThrough({ db, accountId, copy, admission, upkeep });
  const catchUp = openCatchUp({
    ctx,
    db,
    accountId,
    copy,
    outgoing,
    ledger,
    activations,
    upkeep,
    branches,
  });

  /**
   * Writes the counts and events of this commit's calls in one transaction. The platform holds their replies
   * back until the transaction is on disk, and restarts the object if it can't be written.
   */
  const write = async (): Promise<void> => {
    try {
      branches.write();
      ledger.write();
      outgoing.write();
      await relay.soon();
    } catch (error) {
      // Counts that are not on disk must not stay in memory.
      ctx.abort(`The gate could not write: ${String(error)}`);
    }
  };
  const commit = coalesce(write, () => storage.sync());
  const flush = () => {
    ledger.write();
    outgoing.write();
  };
  const pull = coalesce(async () => {
    await catchUp.pull();
    await relay.soon();
  });
  const answerNow = openAnswers({ copy, ledger, admission, usageAt, noteUsage, applications, relay });

  const reportState = openStateReport({ kv: storage.kv, db, accountId, object: 'gate' });
  const movedTo = epoch > FIRST_EPOCH ? { epoch } : {};

  const calls = openCalls({
    copy,
    ledger,
    admission,
    usageAt,
    applications,
    branches,
    answerNow,
    ensureKnown,
    commit,
    movedTo,
  });
  const changes = openChanges({ ctx, usageAt, noteUsage, ledger, outgoing, upkeep });
  const changeCalls = openChangeCalls({ copy, calls, changes, upkeep, catchUp, relay, branches, pull });

  return {
    accountId,
    movedTo,
    copy,
    upkeep,
    relay,
    branches,
    catchUp,
    calls,
    changes,
    changeCalls,
    seller: openSellerCalls({ copy, activations, applications, branches, ensureKnown, commit }),
    eraseTraces: openTraces({
      ctx,
      env,
      accountId,
      moving,
      activations,
      branches,
      relay,
      pull,
      flush,
    }),
    statistics: openStatistics(ledger, usageAt, branches, traffic),
    admitSession: openSessionAdmission({ copy, ensureKnown: () => ensureKnown(null, null), movedTo }),
    pull,
    reportState: () => reportState({ ...USUAL, loading: copy.loadPosition() === null ? 0 : 1 }),
    served: {
      homeRegion: async () => {
        if (!copy.account()) await pull();
        return copy.account()?.homeRegion ?? null;
      },
      isLoading: () => copy.loadPosition() !== null,
      flush,
      pull: changeCalls.pull,
    } satisfies Served,
  };
};

export type GateParts = ReturnType<typeof openParts>;
