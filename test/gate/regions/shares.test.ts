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
} from '../../../src/gate/rules/limits.ts';

const known = (perSecond: number, number = 1): KnownShare => ({
  offered: { number, perSecond },
  confirmed: { number, perSecond },
});
const demand = (perSecond: number, asked: number): Demand => ({ ...known(perSecond), asked });
/** Shares a limit of 80 calls a second. */
const shareOf = (branches: Demand[], askedAtHome = 0, perCall = 1) =>
  share(80, branches, { askedAtHome, perCall });

test('a branch gets four times what is asked of it, and home keeps the rest', () => {
  expect(shareOf([demand(0, 10)])).toEqual([40]);
  expect(shareOf([demand(0, 10), demand(0, 1)])).toEqual([40, 8.75]);
});

test('a branch without calls keeps a little', () => {
  expect(shareOf([demand(0, 0)])).toEqual([17.5]);
  expect(shareOf([demand(0, 0), demand(0, 0)])).toEqual([8.75, 8.75]);
});

test('what is asked beyond the limit is shared by what is asked', () => {
  const [first = 0, second = 0] = shareOf([demand(0, 90), demand(0, 30)]).map(Number);
  expect(first + second).toBeCloseTo(70);
  expect(first).toBeGreaterThan(2 * second);
  const [beside = 0] = shareOf([demand(0, 60)], 60).map(Number);
  expect(beside).toBeLessThan(45);
});

test('each of many branches gets a useful part of a small limit, or waits for it', () => {
  const busy = demand(0, 100);
  const idle = Array.from({ length: 5 }, () => demand(0, 0));
  const shares = share(1, [busy, ...idle], { askedAtHome: 50, perCall: 0.1 });
  expect(Math.min(...shares.map(Number))).toBeCloseTo(0.1);
  expect(shares.reduce<number>((sum, part) => sum + (part ?? 0), 0)).toBeLessThanOrEqual(7 / 8);
  const [raised] = share(1, [demand(0, 10), demand(0.8, 1)], { askedAtHome: 0, perCall: 0.1 });
  expect(raised).toBe(null);
  // A small step is worth a message if it makes a share useful.
  expect(share(1, [demand(0.09, 0), demand(0.3, 9)], { askedAtHome: 0, perCall: 0.1 })[0]).toBeCloseTo(0.109);
});

test('a decrease comes before the increase that needs it', () => {
  const [first, second] = [demand(70, 10), demand(0, 30)];
  const [lower] = shareOf([first, second]);
  expect(lower).toBeLessThan(30);
  expect(shareOf([first, second])[1]).toBe(null);
  const lowered = confirmShare(offerShare(first, lower ?? 0), { number: 2, perSecond: lower ?? 0 });
  expect(shareOf([{ ...lowered, asked: 10 }, second])).toEqual([null, 70 - (lower ?? 0)]);
});

test('a branch that has not confirmed an offer gets no other', () => {
  expect(shareOf([{ ...offerShare(known(70), 30), asked: 10 }])).toEqual([null]);
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
    fc.property(fc.array(step, { maxLength: 80 }), fc.constantFrom(1, 12), (steps, perCall) => {
      let branches: Demand[] = [0, 1, 2].map(() => ({ ...newShare(), asked: 1 }));
      for (const { branch, used, confirms, ends } of steps) {
        branches = branches.map((one, i) => {
          if (i !== branch) return one;
          const confirmed = confirms ? confirmShare(one, one.offered) : one;
          return { ...(ends ? endShare(confirmed) : confirmed), asked: used };
        });
        for (const [i, perSecond] of shareOf(branches, 0, perCall).entries()) {
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
