import { gateAt } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { dropStage } from '../../shared/objects/stage.ts';
import { within } from '../../shared/objects/within.ts';
import type { FeedRead } from '../feed/read.ts';
import type { StoredPlace } from '../moving/place.ts';
import type { Relay } from '../object/outgoing.ts';
import type { TracedLicense } from '../rules/rows.ts';
import {
  type Announcement,
  type AnnouncementRefusal,
  type ChangeSize,
  type CountedChange,
  refuseForToday,
  secondsUntil,
} from '../rules/usage.ts';
import type { Reservation } from './announced.ts';
import type { HomeBranches } from './branches.ts';
import type { CatchUp } from './catch-up.ts';
import type { HomeStore } from './store.ts';
import type { HomeUsage } from './usage.ts';

/** While D1 fails, the outcomes of more and more changes are unknown. They must stay few enough to store. */
const RETRY_SECONDS = 5;

/** What the Worker calls around each change of the account's data in D1. */
export const openChanges = (
  { journal }: ObjectContext,
  { copy, announced }: HomeStore,
  usage: HomeUsage,
  branches: HomeBranches,
  catchUp: CatchUp,
  relay: Relay,
) => {
  /** Reserves a call, or shares the reservation of a call that this one repeats. */
  const reserve = (
    { call, claim }: CountedChange,
    token: string,
    nowMs: number,
  ): Reservation | AnnouncementRefusal => {
    const key = claim ?? token;
    const shared = announced.reservation(key);
    if (shared) return shared;
    const { remaining, period } = usage.at(nowMs);
    if (remaining >= 1) return { key, call, periodStartMs: period.startMs, atMs: nowMs };
    return { refused: 'usage_limit_exceeded', retryAfterSeconds: secondsUntil(period.endMs, nowMs) };
  };

  /** Refuses a change before anything is done for it. */
  const refuse = (token: string, size: ChangeSize, nowMs: number): AnnouncementRefusal | null => {
    if (announced.has(token)) return null;
    if (announced.isFull()) return { refused: 'unavailable', retryAfterSeconds: RETRY_SECONDS };
    const account = copy.account();
    return account && refuseForToday(account, size, announced.changesToday(nowMs), nowMs);
  };

  const pull = async (ref: string | null = null): Promise<void> => {
    // A change is announced until it was applied.
    if (ref === null || announced.hasRef(ref)) await catchUp.pull();
    await branches.acknowledged();
  };

  return {
    pull,

    announce: async (
      ref: string,
      counted: CountedChange | null,
      token: string,
      size: ChangeSize,
    ): Promise<Announcement> => {
      if (counted && !refuse(token, size, Date.now())) await branches.recallIfSpent();
      const nowMs = Date.now();
      const refusal = refuse(token, size, nowMs);
      if (refusal) return refusal;
      if (!announced.has(token)) {
        const reservation = counted && reserve(counted, token, nowMs);
        if (reservation && 'refused' in reservation) return reservation;
        announced.add({ token, atMs: nowMs, ref, reservation, changes: size.changes });
        announced.countChanges(size.changes, nowMs);
      }
      // From here on, the alarm finds the change if its request dies.
      await journal.commit();
      const { appliedSeq, appliedAt, movedAt, knownUntil } = copy.progress();
      return { refused: null, position: { appliedSeq, appliedAt, movedAt, knownUntil } };
    },

    apply: async (token: string, read: FeedRead): Promise<void> => {
      const settle = () => usage.countReserved(announced.settle(token));
      const isSeen = journal.change(() => {
        // A new gate's first pull brings the first page of its copy, which for most accounts is everything.
        if (catchUp.apply(read) || !copy.progress().complete) return false;
        settle();
        return true;
      });
      if (!isSeen) {
        await catchUp.pull();
        journal.change(settle);
      }
      await branches.acknowledged();
    },

    abandon: (token: string): void =>
      journal.change(() => {
        const { changes = 0, atMs = 0 } = announced.abandon(token) ?? {};
        // It stays one change, so that refused calls have a bound, too: each has cost D1 a batch.
        if (changes > 1) announced.forgetChanges(changes - 1, atMs);
      }),

    setWantsVerified: async (wanted: boolean): Promise<void> => {
      journal.change(() => {
        relay.setWantsVerified(wanted);
        branches.log([{ kind: 'account', ref: '', isNew: false }]);
      });
      await branches.acknowledged();
    },
  };
};

/** An object that can't be reached must not keep the caller waiting. The erasure is then finished later. */
const CALLS_MS = 5_000;

/**
 * Erases what the feed leaves of deleted licenses and erased customers: names of machines, the feed's own rows, the branches'
 * copies, rows in objects that the account has left, and rows that a restore has only staged. Events that were created before
 * are in the outbox afterwards. Returns the number of the licenses' machines.
 */
export const openTraces =
  (
    { ctx, env, accountId, journal }: ObjectContext,
    place: StoredPlace,
    { copy, machines }: HomeStore,
    branches: HomeBranches,
    { pull }: CatchUp,
    relay: Relay,
  ) =>
  async (licenses: TracedLicense[], emails: string[]): Promise<number> => {
    /** Lets branches drop the names. Where a license has another key by now, they drop everything. */
    const logErased = () => {
      const hasKey = ({ licenseId, licenseKey }: TracedLicense) =>
        licenseKey === null || copy.license(licenseKey ?? '')?.id === licenseId;
      if (!licenses.every(hasKey)) return branches.forgetLog();
      const keys = licenses.flatMap(({ licenseKey }) => licenseKey ?? []);
      branches.log(keys.map((ref) => ({ kind: 'license', ref, isNew: false })));
    };

    // Each read deletes the rows of the feed that were applied before it.
    await pull();
    await pull();
    const count = journal.change(() => {
      dropStage(ctx.storage);
      const orphans = copy.eraseOrphans(emails);
      if (orphans.length > 0) branches.forgetLog();
      else logErased();
      return [...licenses, ...orphans].reduce((sum, license) => sum + machines.eraseNames(license), 0);
    });
    await branches.acknowledged();
    await within(
      CALLS_MS,
      Promise.all([
        branches.eraseTraces(),
        ...place.formerEpochs().map(async (former) => gateAt(env, accountId, former).empty()),
      ]),
    );
    await journal.commit();
    await relay.forward();
    return count;
  };
