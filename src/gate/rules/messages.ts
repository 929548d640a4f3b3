import { candidateKeys } from '../../shared/rules/license-key.ts';
import type { Terms } from '../../shared/rules/terms.ts';
import type { Verdict } from '../../shared/rules/verdict.ts';
import type { MovedTo, ReplyText } from './calls.ts';
import type { Escrow, ShareOffer } from './limits.ts';
import type { CopiedAccount, CopiedKey, CopiedLicense } from './rows.ts';
import { isHeld, type Machine } from './seats.ts';
import type { Traffic } from './traffic.ts';
import type { Counter } from './usage.ts';

// Home and a branch exchange their states, not what has changed: each message has everything that the receiver may have
// missed, so messages may be lost, late, repeated or out of order.

/** A part of the log of home's changes. A receiver that has not applied `after` can't use it. */
export interface Feed<Row> {
  after: number;
  through: number;
  /** Set if home's log no longer goes back to `after`: the branch drops its copy. */
  isReset: boolean;
  /** The changed rows as they are at `through`. The branch ignores rows that it doesn't have. */
  rows: Row[];
}

/** What a branch tells home. Everything in it is on the branch's disk. */
export interface Report {
  /** Names this opening of the branch. Home ignores a report of an earlier one. */
  opening: number;
  applied: number;
  escrows: Escrow[];
  share: ShareOffer;
  /** Calls within about one interval between renewals. */
  usedLately: number;
  /** Set if the branch has closed, and counts nothing. */
  isClosed?: boolean;
  /** Whether the outbox still lacks events of the branch. Only the last report has it. */
  hasEvents?: boolean;
  /** Counters that have changed, by their names in the ledger. Only renewals and the last report have them. */
  counters?: Record<string, Counter>;
  /** The calls by region since this opening, of the last two days with calls. A renewal every minute has them. */
  traffic?: Traffic;
}

export interface Grant {
  periodStartMs: number;
  granted: number;
  /** What home and the other branches have counted, as far as home knows. */
  others: number;
}

/** What home tells a branch. Everything in it is on home's disk. */
export interface Update<Row> {
  opening: number;
  /** Null if home doesn't know what the branch has applied. */
  feed: Feed<Row> | null;
  /** One for each period in which the branch has been granted something: its clock may be behind home's. */
  grants: Grant[];
  share: ShareOffer;
  /** Whether the branch gives back what it has not spent. */
  isRecall: boolean;
  /** Whether the branch stops answering, gives everything back, and closes. */
  isClosing: boolean;
}

/** A row that has changed in home's copy. A branch deletes its own, and asks home for the new one. */
export interface ChangedRef {
  kind: ChangedRow['kind'];
  ref: string;
}

/** Also has the account as it is at the feed's end, because a branch needs the plan and the period at any time. */
export interface BranchUpdate extends Update<ChangedRef> {
  account: CopiedAccount | null;
  wantsVerified: boolean | null;
}

/** Null if home can't renew leases at present. `closed` names an opening that is over. */
export type RenewalReply =
  | (({ update: BranchUpdate; leaseMs: number } | { closed: number }) & MovedTo)
  | null;

/** A license as a branch knows it: all that judging its verifies takes. */
export interface KnownLicense {
  license: CopiedLicense;
  /** Null if neither the license nor its product has terms. */
  terms: Terms | null;
  /** The machine, if the branch may have a copy of it. */
  machine: Machine | null;
  /** The license's used seats, if they are limited. The count holds until a seat's lease ends. */
  count: { used: number; untilMs: number } | null;
}

/** Home's answer to a call that a branch couldn't answer, with rows that the branch may keep. */
export interface Forwarded extends MovedTo {
  reply: ReplyText;
  row: {
    asOf: number;
    key: CopiedKey & { id: string };
    /** Whether the license's product exists. */
    isProduct: boolean;
    /** Null if only home can answer such calls. */
    known: KnownLicense | null;
  } | null;
  /** What home and the other branches have counted in a period. */
  others: { periodStartMs: number; calls: number } | null;
}

export type FeedStep = 'ignore' | 'apply' | 'reset';

/** What a branch does with a feed. One that came too late has nothing new, and one that came too early has a gap before it. */
export const feedStep = (applied: number, feed: Feed<unknown> | null): FeedStep => {
  if (!feed || feed.through <= applied) return 'ignore';
  if (feed.isReset) return 'reset';
  return feed.after <= applied ? 'apply' : 'ignore';
};

// A change is answered when no branch can answer from the state before it.

export interface LeasedBranch {
  /** Until when home treats the branch as leased, by home's clock. */
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
  /** `machines` of a license had to make room for others. */
  kind: 'account' | 'key' | 'license' | 'product' | 'erased' | 'seat' | 'machines';
  /** A license key, a key's id, a product's code, or seats (see `seatRef`). */
  ref: string;
  /** Whether home's complete copy has not had the row before, or a machine has come. */
  isNew: boolean;
}

/** Whether branches learn of the change even if nobody waits for that. */
export const isOfSeats = ({ kind }: ChangedRow): boolean => kind === 'seat' || kind === 'machines';

/**
 * Whether a change waits for the branches. A new key or license doesn't: a branch asks home for everything that it doesn't
 * have. But a license whose key is another spelling of a generated key hides the license with that key. A seat that was taken
 * changes only how many seats the answers for other machines show as used, which may be late by a lease.
 */
export const needsAck = (change: ChangedRow): boolean => {
  const { kind, ref, isNew } = change;
  if (!isNew) return true;
  return kind === 'license' ? candidateKeys(ref).length > 1 : kind !== 'key' && !isOfSeats(change);
};

/**
 * Whether a branch keeps a row that home answered. `asOf` is the revision of home's copy at that time, and `changedAt` the
 * last revision that the branch has applied and that changed this row, while it was waiting or since it has had the row.
 */
export const mayKeep = (asOf: number, changedAt: number): boolean => asOf >= changedAt;

// Which verifies a branch answers from copies of home's machines. Only home takes, releases and renews seats.

/** A copy's name. Without a fingerprint, it is the number of used seats. Neither license keys nor fingerprints have spaces. */
export const seatRef = (licenseKey: string, fingerprint: string) => `${licenseKey} ${fingerprint}`;

/**
 * Whether a branch may have a copy of the machine: only if its seat is held until it is released. A seat with a lease ends by
 * home's clock alone, and no clock is compared across machines.
 */
export const isCopied = (
  { leaseSeconds }: Terms,
  machine: Machine | null,
  nowMs: number,
): machine is Machine =>
  leaseSeconds === null &&
  machine !== null &&
  machine.seat.leaseUntilMs === null &&
  isHeld(machine.seat, nowMs);

/** Whether a verify without a fingerprint says nothing about seats. */
export const hasNoSeats = ({ maxActivations }: Terms, fingerprint: string | undefined): boolean =>
  maxActivations === null && !fingerprint;

/** Whether a branch could answer such a verify, as far as the verdict shows. Only these calls are a reason to open one. */
export const isAnswerableInBranch = (
  { seats, activation }: Verdict,
  fingerprint: string | undefined,
): boolean => (activation === null ? seats === null && !fingerprint : activation.lease_until === null);
