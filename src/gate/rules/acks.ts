import { candidateKeys } from '../../shared/rules/license-key.ts';

// A change is answered when no branch can answer from the state before it.

export interface LeasedBranch {
  /** Until when home takes the branch for leased, by home's clock. */
  leasedUntilMs: number;
  /** The last revision of home's copy that the branch has confirmed. */
  applied: number;
}

/**
 * Returns the branches that still have to apply a change before it is answered: those with a lease that have not confirmed
 * its revision. `revision` is the last one that branches must not miss, also if another request has applied it.
 */
export const whoMustAck = <B extends LeasedBranch>(branches: B[], revision: number, nowMs: number): B[] =>
  branches.filter(({ leasedUntilMs, applied }) => nowMs < leasedUntilMs && applied < revision);

export interface ChangedRow {
  kind: 'account' | 'key' | 'license' | 'product' | 'erased' | 'seat';
  /** A license key, a key's id, a product's code, or a machine's seat (see `seatRef`). */
  ref: string;
  /** Whether home's complete copy has not had the row before, or a machine has taken a seat. */
  isNew: boolean;
}

/**
 * Whether a change waits for the branches. A new key or license doesn't: a branch asks home for everything that it doesn't
 * have. But a license whose key is another spelling of a generated key hides the license with that key. A seat that was taken
 * changes only how many seats the answers for other machines show as used, which may be late by a lease.
 */
export const needsAck = ({ kind, ref, isNew }: ChangedRow): boolean => {
  if (!isNew) return true;
  return kind === 'license' ? candidateKeys(ref).length > 1 : kind !== 'key' && kind !== 'seat';
};

/**
 * Whether a branch keeps a row that home answered. `asOf` is the revision of home's copy at that time, and `changedAt` the
 * last revision that the branch has applied and that changed this row, while it was waiting or since it has had the row.
 */
export const mayKeep = (asOf: number, changedAt: number): boolean => asOf >= changedAt;
