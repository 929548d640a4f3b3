import { databaseOf } from '../../db/client.ts';
import type { Ctx } from '../../db/ctx.ts';
import {
  deleteAccount,
  endCharges,
  endUser,
  eraseRows,
  findEnd,
  type Reason,
} from '../../erasure/account.ts';
import { openBudget } from '../../erasure/budget.ts';
import { eraseSome } from '../../erasure/finish.ts';
import { branchOf, gateAt, outboxOf } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { eraseObject, restartErased } from '../../shared/objects/erase.ts';
import { SYSTEM } from '../../shared/rules/audit.ts';
import { type Region, REGIONS } from '../../shared/rules/regions.ts';
import { logLine } from '../../shared/text/log.ts';
import type { Moving } from '../moving/moving.ts';
import { ERASURE, type StoredPlace } from '../moving/place.ts';
import { type Admission, type ReplyText, writeReply } from '../rules/calls.ts';
import type { Forwarded, RenewalReply } from '../rules/messages.ts';
import type { Announcement } from '../rules/usage.ts';

// The erasures of an account are carried out by its home, from its alarm. What they have done is in D1 and here, so each run of the
// alarm goes on where the last one has stopped, and has its own budget. No account waits for another one.

/** D1 allows 1,000 queries in a run of the alarm. */
const MAX_QUERIES = 500;
/** The other jobs of the alarm wait for the next run. */
const MAX_MS = 5_000;
/** How long calls wait for the calls before them. */
const DRAIN_MS = 5_000;
/** A change whose outcome isn't known may be a sign-in that keeps the account. It is known after 90 seconds at the latest. */
const CHANGE_MS = 5_000;
/** Nothing can be erased while the account moves to another database, which takes minutes. */
const MOVE_MS = 60_000;
/** Longer than a request that was under way can still write, such as the notification of a payment. */
const SETTLE_MS = 5 * 60_000;

interface Progress {
  /** When the alarm goes on. */
  dueMs: number;
  /** Why the account is being erased. Null before. */
  reason: Reason | null;
  /** Whether branches were ever opened. Each is an object, which a call would create. */
  hasBranches: boolean;
  /** When everything was erased for the first time. Null before. */
  clearedMs: number | null;
}

/** What an erasure asks of the home. */
interface ErasingHome {
  isMovingDatabase: () => boolean;
  isChanging: () => boolean;
  hasBranches: () => boolean;
}

/** Stores what is due to be erased. It has no home, so that an object that is being erased can be told, too. */
export const openDueErasure = ({ ctx, journal, alarm }: ObjectContext) => {
  const { kv } = ctx.storage;
  let progress = kv.get<Progress>(ERASURE) ?? null;
  /** The earliest time for which this object was woken since the last run began. */
  let wokenMs = Infinity;

  const save = (next: Progress | null) => {
    journal.write(() => (next ? kv.put(ERASURE, next) : kv.delete(ERASURE)));
    progress = next;
  };

  return {
    now: () => progress,

    /** Begins a run of the alarm, if anything is due. */
    begin: (nowMs: number): Progress | null => {
      if (!progress || progress.dueMs > nowMs) return null;
      wokenMs = Infinity;
      return progress;
    },

    /** Stores how far a run has come, and when the next one is due: not later than this object was woken for meanwhile. */
    goOn: (reached: Progress, nextMs: number | null) => {
      const dueMs = Math.min(nextMs ?? Infinity, wokenMs);
      save(dueMs === Infinity ? null : { ...reached, dueMs });
    },

    /** Everything is erased. The alarm is not set anew. */
    end: () => {
      progress = null;
    },
    /** Lets the alarm erase what is due, in `inMs` at the latest. */
    wake: async (inMs = 0): Promise<void> => {
      const dueMs = Date.now() + inMs;
      wokenMs = Math.min(wokenMs, dueMs);
      if (!progress || progress.dueMs > dueMs)
        save({ reason: null, hasBranches: true, clearedMs: null, ...progress, dueMs });
      await alarm.arm();
    },
  };
};

type DueErasure = ReturnType<typeof openDueErasure>;

/** Erases what is due, from the alarm. */
export const openErasing = (
  { ctx, env, accountId, alarm }: ObjectContext,
  { now, begin, goOn, end: endErasure }: DueErasure,
  place: StoredPlace,
  moving: Moving,
  home: () => ErasingHome,
) => {
  const accountCtx = (): Ctx => {
    const db = databaseOf(env, accountId);
    return { env, db, accountId, key: null, actor: SYSTEM, ip: null };
  };

  /**
   * Ends the account's use, from which nobody can return. A sign-in keeps the account in a change that this gate is told of, so
   * no call is let in between the last look and the end of the user.
   */
  const endAccount = async (began: Progress, reason: Reason): Promise<void> => {
    // Once its rows are gone, nobody would notice what the account is charged.
    const nextMs = await endCharges(accountCtx());
    if (nextMs !== null) return goOn(began, nextMs);
    const resume = moving.routing.pause();
    try {
      await moving.routing.idle(DRAIN_MS);
      if (home().isChanging()) return goOn(began, Date.now() + CHANGE_MS);
      if ((await findEnd(accountCtx())).reason !== reason) return;
      if (!(await endUser(accountCtx(), reason))) return;
      goOn({ ...began, reason, hasBranches: home().hasBranches() }, began.dueMs);
      moving.endForErasure();
      restartErased(ctx);
    } finally {
      resume();
    }
  };

  /** The branches and the outbox, and what the account's other objects have of it. Those still lead here. */
  const eraseOthers = async ({ clearedMs, hasBranches }: Progress): Promise<void> => {
    if (clearedMs === null) {
      const regions = hasBranches ? REGIONS : [];
      await Promise.all(regions.map(async (region) => branchOf(env, accountId, region).erase()));
      for (const epoch of place.earlierEpochs()) await gateAt(env, accountId, epoch).empty();
      for (const epoch of place.nextEpochs()) await gateAt(env, accountId, epoch).erase(true);
    }
    // Last, because the others send it events.
    await outboxOf(env, accountId).erase();
  };

  /** Nothing of the account is left. The objects that lead here go first, and this one, which refuses the calls, last. */
  const end = async (): Promise<void> => {
    await deleteAccount(accountCtx());
    for (const epoch of place.earlierEpochs()) await gateAt(env, accountId, epoch).erase(true);
    await eraseObject(ctx);
    endErasure();
    logLine('info', { event: 'account_erased', account_id: accountId });
  };

  /** Erases everything twice, because calls that were under way may write again. */
  const eraseAccount = async (began: Progress): Promise<void> => {
    moving.dropForErasure();
    const { spend } = openBudget(MAX_QUERIES, MAX_MS);
    if (!(await eraseRows(accountCtx(), began.reason ?? 'requested', spend))) return;
    await eraseOthers(began);
    const nowMs = Date.now();
    const clearedMs = began.clearedMs ?? nowMs;
    if (nowMs >= clearedMs + SETTLE_MS) return end();
    goOn({ ...began, clearedMs }, clearedMs + SETTLE_MS);
  };

  const eraseWhatIsDue = async (began: Progress): Promise<void> => {
    // The account moves to another database.
    if (home().isMovingDatabase()) return goOn(began, Date.now() + MOVE_MS);
    const { reason, laterMs } = await findEnd(accountCtx());
    if (reason) return endAccount(began, reason);
    if (!(await eraseSome(accountCtx()))) goOn(began, laterMs);
  };

  alarm.add({
    failure: 'erasure_not_finished',
    dueMs: () => now()?.dueMs ?? null,
    run: async (nowMs) => {
      const progress = begin(nowMs);
      if (!progress) return;
      const next = moving.next();
      if (next) {
        await next.eraseDue();
        goOn(progress, null);
      } else await (place.now().state === 'erasing' ? eraseAccount(progress) : eraseWhatIsDue(progress));
    },
  });
};

/** Nothing makes a key of an erased account valid again. */
const HOLDS_MS = 600_000;
const INVALID_KEY = { refused: 'api_key_invalid', holdsMs: HOLDS_MS } as const;
const RETRY_SECONDS = 5;

/** What a gate answers while its account is being erased, from no rows. Other calls fail: nobody is let in who makes them. */
export const ERASED = {
  verify: (): ReplyText => writeReply(INVALID_KEY),
  application: (): ReplyText => writeReply(INVALID_KEY),
  forward: (): Forwarded => ({ reply: writeReply(INVALID_KEY), row: null, others: null }),
  admit: (): Admission => INVALID_KEY,
  admitSession: (): Admission => ({ refused: 'invalid_session' }),
  announce: (): Announcement => ({ refused: 'unavailable', retryAfterSeconds: RETRY_SECONDS }),
  abandon: (): void => {},
  pull: (): void => {},
  renew: (): RenewalReply => null,
  close: (): void => {},
  movingTo: (): Region | null => null,
};
