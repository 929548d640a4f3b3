import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  confirmShare,
  type Demand,
  endShare,
  homeShare,
  inForce,
  type KnownShare,
  newShare,
  NO_SHARE,
  offerShare,
  receiveShare,
  share,
} from '../../../src/gate/rules/shares.ts';

const known = (perSecond: number, number = 1): KnownShare => ({
  offered: { number, perSecond },
  confirmed: { number, perSecond },
});
const demand = (perSecond: number, usedLately: number): Demand => ({ ...known(perSecond), usedLately });

test('the first branch gets everything but what home keeps', () => {
  expect(share(80, [demand(0, 10)])).toEqual([70]);
});

test('shares follow the use, and a branch without calls keeps some', () => {
  expect(share(80, [demand(0, 30), demand(0, 10)])).toEqual([48.125, 21.875]);
});

test('each of many branches gets a useful part of a small limit, or waits for it', () => {
  const busy = demand(0, 100);
  const idle = Array.from({ length: 5 }, () => demand(0, 0));
  const shares = share(1, [busy, ...idle], { usedAtHome: 50, smallest: 0.1 });
  expect(Math.min(...shares.map(Number))).toBeCloseTo(0.1);
  expect(shares.reduce<number>((sum, part) => sum + (part ?? 0), 0)).toBeLessThanOrEqual(7 / 8);
  const [raised] = share(1, [demand(0, 10), demand(0.8, 1)], { smallest: 0.1 });
  expect(raised).toBe(null);
  // A small step is worth a message if it makes a share useful.
  expect(share(1, [demand(0.09, 0), demand(0.3, 9)], { smallest: 0.1 })[0]).toBeCloseTo(0.109);
});

test('a decrease comes before the increase that needs it', () => {
  const [first, second] = [demand(70, 10), demand(0, 10)];
  expect(share(80, [first, second])).toEqual([35, null]);
  const lowered = confirmShare(offerShare(first, 35), { number: 2, perSecond: 35 });
  expect(share(80, [{ ...lowered, usedLately: 10 }, second])).toEqual([null, 35]);
});

test('a branch that has not confirmed an offer gets no other', () => {
  expect(share(80, [{ ...offerShare(known(70), 30), usedLately: 10 }])).toEqual([null]);
});

test('home counts the larger of an offer and what was confirmed before', () => {
  const raised = offerShare(known(20), 30);
  const lowered = offerShare(known(20), 10);
  expect([inForce(raised), inForce(lowered)]).toEqual([30, 20]);
  expect(homeShare(80, [raised, lowered])).toBe(30);
});

test('an outdated report tells nothing', () => {
  const lowered = confirmShare(offerShare(known(30), 10), { number: 2, perSecond: 10 });
  expect(confirmShare(lowered, { number: 1, perSecond: 30 })).toEqual(lowered);
  expect(confirmShare(lowered, NO_SHARE)).toEqual(lowered);
});

test('after a lease has ended, only the next offer counts', () => {
  const ended = endShare(known(30));
  expect(inForce(ended)).toBe(0);
  expect(ended.offered).toEqual({ number: 2, perSecond: 0 });
  expect(offerShare(ended, 5).offered).toEqual({ number: 3, perSecond: 5 });
});

test('a branch takes the latest offer', () => {
  const mine = { number: 3, perSecond: 30 };
  expect(receiveShare(NO_SHARE, mine)).toBe(mine);
  expect(receiveShare(mine, { number: 2, perSecond: 50 })).toBe(mine);
  expect(receiveShare(mine, { number: 4, perSecond: 5 })).toEqual({ number: 4, perSecond: 5 });
});

test('the shares never add up to more than the limit, whatever is confirmed when', () => {
  const step = fc.record({
    branch: fc.nat(2),
    used: fc.nat(100),
    confirms: fc.boolean(),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.constantFrom(0, 12), (steps, smallest) => {
      let branches: Demand[] = [0, 1, 2].map(() => ({ ...newShare(), usedLately: 1 }));
      for (const { branch, used, confirms, ends } of steps) {
        branches = branches.map((one, i) => {
          if (i !== branch) return one;
          const confirmed = confirms ? confirmShare(one, one.offered) : one;
          return { ...(ends ? endShare(confirmed) : confirmed), usedLately: used };
        });
        for (const [i, perSecond] of share(80, branches, { smallest }).entries()) {
          const one = branches[i];
          if (one && perSecond !== null) Object.assign(one, offerShare(one, perSecond));
        }
        const sum = branches.reduce((total, one) => total + inForce(one), 0);
        expect(sum).toBeLessThanOrEqual(70 + 1e-9);
        expect(homeShare(80, branches)).toBeGreaterThanOrEqual(10 - 1e-9);
      }
    }),
  );
});
