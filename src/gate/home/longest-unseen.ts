import { createLru } from '../../shared/memory/lru.ts';
import { isLive, type Machine } from '../rules/seats.ts';

// The machines that an application without a seat is told about: those of its license that were seen longest ago. Seen machines
// only move to the end of that order, so a list that was read once stays its beginning, without those that have moved.

const LICENSES_IN_MEMORY = 100;
/** Told about are fewer, so that the list is read again only after many of them have moved. */
const LISTED = 200;
const MAX_TOLD = 100;

type Listed = Pick<Machine, 'fingerprint'> & { lastSeenAtMs: number };

interface Parts {
  /** Reads the first machines with live seats in this order. It reads every machine of the license. */
  readFirst: (licenseId: string, nowMs: number, limit: number) => Machine[];
  read: (licenseId: string, fingerprint: string, nowMs: number) => Machine | null;
  countLive: (licenseId: string, nowMs: number) => number;
}

export const openLongestUnseen = ({ readFirst, read, countLive }: Parts) => {
  const lists = createLru<Listed[]>(LICENSES_IN_MEMORY);

  /** Returns the listed machines that are still live and where they were in the order. */
  const unmoved = (licenseId: string, nowMs: number, limit: number): Machine[] => {
    const found: Machine[] = [];
    for (const { fingerprint, lastSeenAtMs } of lists.get(licenseId) ?? []) {
      const machine = read(licenseId, fingerprint, nowMs);
      if (machine?.seat.lastSeenAtMs === lastSeenAtMs && isLive(machine.seat, nowMs)) found.push(machine);
      if (found.length === limit) break;
    }
    return found;
  };

  return {
    list: (licenseId: string, nowMs: number): Machine[] => {
      const limit = Math.min(MAX_TOLD, countLive(licenseId, nowMs));
      const kept = unmoved(licenseId, nowMs, limit);
      if (kept.length === limit) return kept;
      const machines = readFirst(licenseId, nowMs, LISTED);
      lists.set(
        licenseId,
        machines.map(({ fingerprint, seat: { lastSeenAtMs } }) => ({ fingerprint, lastSeenAtMs })),
      );
      return machines.slice(0, limit);
    },

    /** Notes that a machine was written. An import may add one that was seen long ago. */
    note: ({ licenseId, seat }: Machine) => {
      const last = lists.get(licenseId)?.at(-1);
      if (last && seat.lastSeenAtMs < last.lastSeenAtMs) lists.delete(licenseId);
    },
  };
};
