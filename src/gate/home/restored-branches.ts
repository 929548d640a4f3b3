import { ownValue } from '../../shared/objects/own-values.ts';
import { REGIONS } from '../../shared/rules/regions.ts';
import { LOST } from './branch-store.ts';

// A home that was restored from a backup doesn't know the branches that were opened after it. They answer until their leases
// end, and what they have counted is taken over with their next message.

const RESTORED = ownValue('restored');
/** More branches than an account opens, and more changes than it makes, after a backup or between two restores. */
const SKIPPED = 1_000_000;

interface Restored {
  atMs: number;
  /** The last opening in the backup, and the last one that may have been made until the restore. */
  knownOpenings: number;
  lastOpening: number;
  /** The same for changes. What earlier releases have stored has none. */
  lastRevision?: number;
  /** The openings that were taken over, of branches that the backup didn't know. A late report counts nothing again. */
  adopted?: number[];
}

/**
 * Prepares restored rows for branches that the backup doesn't know, as part of the transaction of the restore: numbers of
 * openings and changes that they may have seen are not used again, and they drop their copies.
 */
export const noteRestore = ({ sql, kv }: DurableObjectStorage, atMs: number): void => {
  const [facts] = sql.exec<{ openings: number; revision: number }>(
    'SELECT openings, revision FROM branch_facts',
  );
  const { openings: knownOpenings, revision } = facts ?? { openings: 0, revision: 0 };
  const before = kv.get<Restored>(RESTORED);
  const lastOpening = Math.max(knownOpenings, before?.lastOpening ?? 0) + SKIPPED;
  const lastRevision = Math.max(revision, before?.lastRevision ?? 0) + SKIPPED;
  sql.exec(
    'INSERT OR REPLACE INTO branch_facts (only, term, openings, revision) VALUES (1, 0, ?, ?)',
    lastOpening,
    lastRevision,
  );
  sql.exec('DELETE FROM branch_log');
  sql.exec("INSERT INTO branch_log (revision, kind, ref) VALUES (?, 'all', '')", lastRevision);
  kv.put(LOST, REGIONS);
  kv.put(RESTORED, { atMs, knownOpenings, lastOpening, lastRevision } satisfies Restored);
};

/** What home knows of its restore. `leaseMs` is how long a branch may be leased. */
export const openRestored = (kv: SyncKvStorage, leaseMs: number) => {
  const restored = kv.get<Restored>(RESTORED) ?? null;
  const leasedUntilMs = restored ? restored.atMs + leaseMs : 0;
  const adopted = new Set(restored?.adopted);

  return {
    /** Whether branches may be leased that home doesn't know. */
    mayBeLeased: (nowMs: number) => nowMs < leasedUntilMs,

    /** Whether a branch was opened before the restore. It closes, because what the backup says of it may be outdated. */
    isLeftOver: (opening: number) => restored !== null && opening <= restored.lastOpening,

    /**
     * Takes a branch for known that the backup doesn't have, in place of a present one from before the restore, as part of the
     * current transaction. Returns false if the backup has it, or if it was taken for known before.
     */
    adopts: (opening: number, present: number): boolean => {
      if (!restored || opening <= restored.knownOpenings || opening > restored.lastOpening) return false;
      if (present > restored.lastOpening || opening === present || adopted.has(opening)) return false;
      adopted.add(opening);
      kv.put(RESTORED, { ...restored, adopted: [...adopted] } satisfies Restored);
      return true;
    },
  };
};
