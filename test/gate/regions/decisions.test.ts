import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shouldClose, shouldOpen } from '../../../src/gate/rules/lease.ts';
import {
  type Escrow,
  exposure,
  giveBack,
  grant,
  isRecallable,
  isRunningLow,
  mergeReport,
  newEscrow,
  receiveGrant,
  remaining,
  unspent,
  usedByOthers,
} from '../../../src/gate/rules/limits.ts';
import { feedStep, mayKeep, needsAck, whoMustAck } from '../../../src/gate/rules/messages.ts';
import { generateLicenseKey } from '../../../src/shared/rules/license-key.ts';

const escrowOf = (granted: number, spent = 0, returned = 0): Escrow => ({
  periodStartMs: 0,
  granted,
  spent,
  returned,
});

describe('a change', () => {
  const branch = (leasedUntilMs: number, applied: number) => ({ leasedUntilMs, applied });

  test('waits for the branches with a lease that have not applied it', () => {
    const behind = branch(2_000, 6);
    expect(whoMustAck([branch(2_000, 7), behind, branch(1_000, 6)], 7, 1_000)).toEqual([behind]);
  });

  test.for([
    ['license', 'L-1', false, true],
    ['license', 'L-1', true, false],
    ['key', 'key_1', true, false],
    ['key', 'key_1', false, true],
    ['account', 'acct_1', false, true],
    ['product', 'pro', true, true],
    ['erased', 'L-1', false, true],
  ] as const)('of kind %s (%s, new: %s) waits for branches: %s', ([kind, ref, isNew, waits]) => {
    expect(needsAck({ kind, ref, isNew })).toBe(waits);
  });

  test('waits for branches if a new key is another spelling of a generated one', () => {
    const generated = generateLicenseKey();
    expect(needsAck({ kind: 'license', ref: generated, isNew: true })).toBe(false);
    expect(needsAck({ kind: 'license', ref: generated.toLowerCase(), isNew: true })).toBe(true);
  });

  test('that a branch has applied meanwhile makes it drop the older row', () => {
    expect(mayKeep(5, 5)).toBe(true);
    expect(mayKeep(5, 6)).toBe(false);
  });

  test('reaches a branch once and without a gap', () => {
    const feed = { after: 5, through: 7, isReset: false, rows: [] };
    expect([4, 5, 6, 7, 8].map((applied) => feedStep(applied, feed))).toEqual([
      'ignore',
      'apply',
      'apply',
      'ignore',
      'ignore',
    ]);
    expect(feedStep(2, { ...feed, isReset: true })).toBe('reset');
    expect(feedStep(2, null)).toBe('ignore');
  });
});

describe('a grant', () => {
  test('is as many calls as the branch used in two leases', () => {
    expect(grant({ limit: 10_000, counted: 0, escrows: [newEscrow(0)] }, newEscrow(0), 300)).toBe(300);
  });

  test('is at most a quarter of an equal share of what remains', () => {
    const escrow = newEscrow(0);
    const quota = { limit: 1_000, counted: 200, escrows: [escrow, newEscrow(0)] };
    expect(grant(quota, escrow, 5_000)).toBe(100);
  });

  test('tops up what the branch has left', () => {
    const escrow = escrowOf(100, 40);
    expect(grant({ limit: 10_000, counted: 0, escrows: [escrow] }, escrow, 80)).toBe(20);
    expect(grant({ limit: 10_000, counted: 0, escrows: [escrow] }, escrow, 60)).toBe(0);
  });

  test('is nothing near the limit', () => {
    const escrow = newEscrow(0);
    expect(grant({ limit: 1_000, counted: 969, escrows: [escrow] }, escrow, 300)).toBe(0);
    expect(grant({ limit: 1_000, counted: 1_200, escrows: [escrow] }, escrow, 300)).toBe(0);
  });

  test('starts a new branch that has reported nothing', () => {
    const escrow = newEscrow(0);
    expect(grant({ limit: 10_000, counted: 0, escrows: [escrow] }, escrow, 0)).toBe(20);
  });

  test('runs low once it lasts for less than half an interval between renewals', () => {
    expect([149, 150].map((left) => isRunningLow(left, 300))).toEqual([true, false]);
    expect([9, 10].map((left) => isRunningLow(left, 0))).toEqual([true, false]);
  });

  test('is worth nothing in another period', () => {
    expect(unspent(escrowOf(50, 10), 0)).toBe(40);
    expect(unspent(escrowOf(50, 10), 1)).toBe(0);
    expect(unspent(undefined, 0)).toBe(0);
  });

  test('is recalled while the branch has something left', () => {
    expect(isRecallable(escrowOf(50, 10))).toBe(true);
    expect(isRecallable(giveBack(escrowOf(50, 10)))).toBe(false);
  });

  test('counts once however often and in which order it is told', () => {
    const branch = giveBack(escrowOf(50, 10));
    expect(mergeReport(mergeReport(escrowOf(50), branch), escrowOf(50, 7))).toEqual(escrowOf(50, 10, 40));
    expect(receiveGrant(receiveGrant(branch, 80), 50)).toEqual(escrowOf(80, 10, 40));
    expect(exposure(branch)).toBe(10);
  });

  test('shows what others have used, as home knows it', () => {
    const own = escrowOf(50, 10);
    const quota = { limit: 100, counted: 5, escrows: [own, escrowOf(20, 3)] };
    expect(usedByOthers(quota, own)).toBe(8);
    expect(usedByOthers(quota, undefined)).toBe(18);
  });

  test('never adds up to more than the limit', () => {
    const step = fc.record({ branch: fc.nat(2), used: fc.nat(200), spent: fc.nat(60), home: fc.nat(30) });
    fc.assert(
      fc.property(fc.nat(600), fc.array(step, { maxLength: 60 }), (limit, steps) => {
        let escrows = [newEscrow(0), newEscrow(0), newEscrow(0)];
        let counted = 0;
        for (const { branch, used, spent, home } of steps) {
          const quota = { limit, counted, escrows };
          counted += Math.max(0, Math.min(home, remaining(quota)));
          escrows = escrows.map((escrow, i) => {
            if (i !== branch) return escrow;
            const more = grant({ limit, counted, escrows }, escrow, used);
            const granted = { ...escrow, granted: escrow.granted + more };
            return { ...granted, spent: granted.spent + Math.min(spent, unspent(granted, 0)) };
          });
          expect(remaining({ limit, counted, escrows })).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('a branch', () => {
  const calls = { region: 'oc', home: 'enam', opened: [], calls: 20 } as const;

  test('opens once its region has kept calling', () => {
    expect(shouldOpen(calls)).toBe(true);
    expect(shouldOpen({ ...calls, calls: 19 })).toBe(false);
    expect(shouldOpen({ ...calls, calls: 5 }, 5)).toBe(true);
    expect(shouldOpen({ ...calls, opened: ['oc'] })).toBe(false);
  });

  test('is not opened at home or next to it', () => {
    expect(shouldOpen({ ...calls, home: 'oc' })).toBe(false);
    expect(shouldOpen({ ...calls, region: 'eeur', home: 'weur' })).toBe(false);
    expect(shouldOpen({ ...calls, region: 'eeur', home: 'enam' })).toBe(true);
    expect(shouldOpen({ ...calls, home: null })).toBe(true);
  });

  test('closes after 15 minutes without a call', () => {
    expect(shouldClose(0, 899_999)).toBe(false);
    expect(shouldClose(0, 900_000)).toBe(true);
  });
});
