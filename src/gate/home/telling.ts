import { coalesce } from '../../shared/objects/coalesce.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { whoMustAck } from '../rules/messages.ts';
import type { KnownBranches } from './known-branches.ts';

/** A branch that hasn't answered by then is told again. */
const TELL_MS = 2_000;
const RETRY_MS = 500;
/** Longer than any round trip, and well below what a branch waits for home, because the call may come through a branch. */
const RECALL_MS = 1_000;

/** Waits until `work` is done, but no longer than `ms`. Fails only if `work` fails. */
const atMost = async (ms: number, work: Promise<unknown>): Promise<void> => {
  const timer = new AbortController();
  const time = scheduler.wait(ms, { signal: timer.signal }).catch(() => {});
  try {
    await Promise.race([work, time]);
  } finally {
    timer.abort();
  }
};

/**
 * Tells branches what has changed, and lets changes wait until no branch can answer from the state before them. `revision` is
 * the last one before this start. `tell` sends a branch everything once, and fails if it isn't heard.
 */
export const openTelling = (
  known: Pick<KnownBranches, 'all'>,
  revision: number,
  tell: (region: Region, isRecall: boolean) => Promise<void>,
) => {
  /**
   * The last revision that no branch may miss. A request waits for it even if another one has applied the change, and after a
   * restart, even if the change was applied before.
   */
  let barrier = revision;
  const recalls = new Set<Region>();
  const tellers = new Map<Region, () => Promise<void>>();

  /** Tells a branch everything. Calls meanwhile share the next message. Never fails. */
  const tellSoon = (region: Region): Promise<void> => {
    let teller = tellers.get(region);
    if (!teller) {
      teller = coalesce(async () => {
        const isRecall = recalls.delete(region);
        let isHeard = false;
        const tellOnce = async () => {
          await tell(region, isRecall);
          isHeard = true;
        };
        await atMost(TELL_MS, tellOnce()).catch(() => scheduler.wait(RETRY_MS));
        if (!isHeard && isRecall) recalls.add(region);
      });
      tellers.set(region, teller);
    }
    return teller();
  };

  return {
    tell: tellSoon,

    raise: (to: number) => {
      barrier = Math.max(barrier, to);
    },

    /** Recalls grants with the next message. */
    recallWithNext: (regions: Region[]) => {
      for (const region of regions) recalls.add(region);
    },

    /** Returns once every branch has applied all changes that were applied here, or its lease has ended. */
    acknowledged: async (): Promise<void> => {
      const through = barrier;
      for (;;) {
        const nowMs = Date.now();
        const missing = whoMustAck(known.all(), through, nowMs);
        if (missing.length === 0) return;
        const leaseEndMs = Math.min(...missing.map(({ leasedUntilMs }) => leasedUntilMs));
        await atMost(
          Math.max(1, leaseEndMs - nowMs),
          Promise.all(missing.map(({ region }) => tellSoon(region))),
        );
      }
    },

    /** Returns once every branch has applied all changes through a revision, also those without a lease. Fails if one isn't heard. */
    applied: async (through: number): Promise<void> => {
      const behind = () => known.all().filter(({ applied }) => applied < through);
      // The first message may only find out what a branch has applied.
      for (let message = 0; message < 2; message++)
        await Promise.all(behind().map(({ region }) => tellSoon(region)));
      if (behind().length > 0) throw new Error('A branch has not applied all changes.');
    },

    /** Recalls grants. A branch without a lease is told, too, but it is probably cut off, so no call waits for it. */
    recall: async (regions: Region[]): Promise<void> => {
      const nowMs = Date.now();
      const leased = new Set<Region>();
      for (const { region, leasedUntilMs } of known.all()) if (nowMs < leasedUntilMs) leased.add(region);
      for (const region of regions) recalls.add(region);
      const told = regions.map((region) => ({ region, answer: tellSoon(region) }));
      const awaited = told.filter(({ region }) => leased.has(region));
      await atMost(RECALL_MS, Promise.all(awaited.map(({ answer }) => answer)));
    },
  };
};
