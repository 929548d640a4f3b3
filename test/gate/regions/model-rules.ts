import * as escrow from '../../../src/gate/rules/escrow.ts';
import * as lease from '../../../src/gate/rules/lease.ts';
import * as opening from '../../../src/gate/rules/lease.ts';
import * as acks from '../../../src/gate/rules/messages.ts';
import * as messages from '../../../src/gate/rules/messages.ts';
import * as shares from '../../../src/gate/rules/shares.ts';

/** What is no decision but the order of steps. The objects keep to it, and the model can break it. */
const STEPS = {
  /** A branch counts a lease from when it sent the renewal. */
  leaseStart: (sentMs: number, _answeredMs: number) => sentMs,
  /** Messages leave after everything that was written before them is on disk. */
  sendsAfterCommit: true,
  /** A renewal is written, so that a process that was replaced can't answer it. */
  writesRenewals: true,
  /** Home stores what a branch has applied, and not what the answer tells the branch. */
  appliedAtRenewal: (reported: number, _sent: number) => reported,
  /** A branch asks home for licenses that it doesn't have. */
  answersNotFound: false,
  /** The revision that a change waits for after a restart of home. */
  barrierAtStart: (revision: number) => revision,
  /** The share of a branch that home knows after a restart. */
  shareAtStart: (stored: shares.KnownShare) => stored,
  /** Events are deleted once the outbox has accepted them. */
  keepsEventsUntilAccepted: true,
  /** A repeated call goes where it went first. */
  forwardsRepeats: true,
  /** A branch says so when it forwards a call that it has counted. */
  tellsCounted: true,
  /** A branch stops to answer before it reports for the last time. */
  stopsBeforeClosing: true,
  /** Home lets a branch stop and report before it closes it. */
  closesAfterLastReport: true,
};

export const RULES = { ...acks, ...escrow, ...lease, ...messages, ...opening, ...shares, ...STEPS };
export type Rules = typeof RULES;
