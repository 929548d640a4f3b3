import type { Report } from '../../../src/gate/rules/messages.ts';
import { NO_SHARE } from '../../../src/gate/rules/shares.ts';
import type { Process } from './model-process.ts';
import type { BranchDisk, BranchMemory } from './model-types.ts';

export type Branch = Process<BranchDisk, BranchMemory>;

export const newBranchDisk = (): BranchDisk => ({
  opening: 0,
  state: 'closed',
  applied: 0,
  rows: [],
  escrows: [],
  calls: [],
  events: [],
});

export const newBranchMemory = (nowMs: number): BranchMemory => ({
  lease: null,
  share: NO_SHARE,
  sentMs: [],
  forwarded: new Map(),
  forwardedIds: new Set(),
  lastCallMs: nowMs,
  lastRenewalMs: -Infinity,
  usedLately: 0,
  others: {},
});

export const reportOf = ({ disk, memory }: Branch): Report => ({
  opening: disk.opening,
  applied: disk.applied,
  escrows: disk.escrows,
  share: memory.share,
  usedLately: memory.usedLately,
});
