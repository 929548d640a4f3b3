import type { Escrow } from '../../../src/gate/rules/escrow.ts';
import type { Lease } from '../../../src/gate/rules/lease.ts';
import type { Report, Update } from '../../../src/gate/rules/messages.ts';
import type { KnownShare, ShareOffer } from '../../../src/gate/rules/shares.ts';
import type { Settings } from './model-steps.ts';

// The state of the model. A license is a number, and its state is a version: 0 doesn't exist yet.

export type BranchName = 'A' | 'B';
export type NodeName = 'home' | BranchName;
export const BRANCHES: readonly BranchName[] = ['A', 'B'];
export const LICENSES = 3;

export interface Row {
  license: number;
  version: number;
  /** The revision of home at which the license had this version. */
  asOf: number;
}

export interface Call {
  id: string;
  license: number;
  region: BranchName;
  /** A call that counts as several makes the limit easier to reach. */
  weight: number;
  /** Set if the branch has counted the call before, but can't answer its repeat. */
  isCounted?: boolean;
}

export interface Answer {
  callId: string;
  isAdmitted: boolean;
  version: number;
  /** The usage after the call. */
  usage: number;
  /** The part of it that others than the caller's branch have counted. */
  others: number;
  periodStartMs: number;
}

export type Body =
  | { kind: 'verify'; call: Call }
  | { kind: 'verified'; answer: Answer }
  | { kind: 'forward'; call: Call; report: Report }
  | { kind: 'forwarded'; answer: Answer; row: Row }
  | { kind: 'renew'; id: number; report: Report }
  | { kind: 'renewed'; id: number; update: Update<Row>; leaseMs: number }
  | { kind: 'tell'; update: Update<Row> }
  | { kind: 'told'; report: Report }
  | { kind: 'close'; report: Report }
  | { kind: 'closed'; opening: number }
  | { kind: 'change'; id: string }
  | { kind: 'changed'; id: string }
  | { kind: 'accept'; events: string[] }
  | { kind: 'accepted'; events: string[] };

export interface BranchRecord {
  opening: number;
  escrows: Escrow[];
  leaseMs: number;
  share: KnownShare;
  /** What the branch had applied when it renewed. */
  applied?: number;
}

export interface HomeDisk {
  /** Counts the starts. */
  starts: number;
  revision: number;
  versions: number[];
  log: { revision: number; license: number }[];
  /** By period. */
  counted: Record<number, number>;
  calls: string[];
  events: string[];
  branches: Partial<Record<BranchName, BranchRecord>>;
  openings: number;
  /** Written with each renewal, so that an object that was replaced can't answer one. */
  renewals: number;
}

export interface KnownBranch {
  leasedUntilMs: number;
  applied: number;
  /** Null until the branch has reported. */
  reported: number | null;
  share: KnownShare;
  isLapsed: boolean;
  usedLately: number;
  toldMs: number;
}

export interface Parked {
  call: Call;
  reply: (answer: Answer) => void;
  waitsFor: Set<BranchName>;
  untilMs: number;
}

export interface HomeMemory {
  settings: Settings;
  barrier: number;
  known: Partial<Record<BranchName, KnownBranch>>;
  changes: { barrier: number; reply: () => void }[];
  parked: Parked[];
  calls: Record<BranchName, number>;
}

export interface BranchDisk {
  /** The last opening, which stays when the branch closes: a late message must not open it again. */
  opening: number;
  state: 'closed' | 'open' | 'closing';
  applied: number;
  rows: Row[];
  escrows: Escrow[];
  calls: string[];
  events: string[];
}

export interface Forwarded {
  call: Call;
  reply: (answer: Answer) => void;
  /** The last revision that changed a license, as far as the branch knows, while home has the call. */
  changedAt: number[];
  untilMs: number;
}

export interface BranchMemory {
  lease: Lease | null;
  share: ShareOffer;
  sentMs: number[];
  forwarded: Map<string, Forwarded>;
  forwardedIds: Set<string>;
  lastCallMs: number;
  lastRenewalMs: number;
  usedLately: number;
  /** Usage of others by period. */
  others: Record<number, number>;
}
