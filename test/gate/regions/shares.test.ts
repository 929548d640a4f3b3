import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  confirmShare,
  type Demand,
  endShare,
  expireShare,
  homeShare,
  inForce,
  type KnownShare,
  receiveShare,
  share,
} from '../../../src/gate/regions/shares.ts';

const known = (perSecond: number, number = 1): KnownShare => ({
  offered: { term: 1, number, perSecond },
  confirmed: { number, perSecond },
});
const demand = (perSecond: number, usedLately: number): Demand => ({ ...known(perSecond), usedLately });
const UNKNOWN: Demand = { offered: null, confirmed: null, usedLately: 0 };

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
  const lowered = confirmShare(
    { ...first, offered: { term: 1, number: 2, perSecond: 35 } },
    { term: 1, number: 2, perSecond: 35 },
    1,
  );
  expect(share(80, [{ ...lowered, usedLately: 10 }, second])).toEqual([null, 35]);
});

test('a branch that has not confirmed an offer gets no other', () => {
  const offered = { term: 1, number: 2, perSecond: 30 };
  expect(share(80, [{ ...demand(70, 10), offered }])).toEqual([null]);
});

test('nothing is raised while home does not know what is in force', () => {
  expect(share(80, [UNKNOWN, demand(0, 10)])).toEqual([null, null]);
  expect(homeShare(80, [UNKNOWN, known(20)])).toBe(10);
});

test('home counts the larger of an offer and what was confirmed before', () => {
  const raised: KnownShare = {
    offered: { term: 1, number: 2, perSecond: 30 },
    confirmed: { number: 1, perSecond: 20 },
  };
  const lowered: KnownShare = {
    offered: { term: 1, number: 2, perSecond: 10 },
    confirmed: { number: 1, perSecond: 20 },
  };
  expect([inForce(raised), inForce(lowered)]).toEqual([30, 20]);
  expect(homeShare(80, [raised, lowered])).toBe(30);
});

test('a report from an earlier term tells nothing', () => {
  expect(confirmShare(UNKNOWN, { term: 1, number: 4, perSecond: 20 }, 2)).toBe(UNKNOWN);
  const confirmed = confirmShare(UNKNOWN, { term: 2, number: 0, perSecond: 20 }, 2);
  expect(inForce(confirmed)).toBe(20);
});

test('a branch without a lease keeps its offer, and so does home', () => {
  const offered = { term: 1, number: 2, perSecond: 30 };
  const reported = expireShare(offered);
  expect(reported).toEqual({ ...offered, perSecond: 0 });
  expect(inForce(confirmShare({ ...known(10), offered }, reported, 1))).toBe(30);
  expect(receiveShare(reported, 1, offered)).toEqual(offered);
});

test('after a lease has ended, only the next offer counts', () => {
  const ended = endShare(known(30), 1);
  expect(inForce(ended)).toBe(0);
  expect(ended.offered).toEqual({ term: 1, number: 2, perSecond: 0 });
});

test('a branch takes the latest offer, and confirms a new term without one', () => {
  const mine = { term: 1, number: 3, perSecond: 30 };
  expect(receiveShare(null, 1, null)).toEqual({ term: 1, number: 0, perSecond: 0 });
  expect(receiveShare(mine, 1, { ...mine, number: 2, perSecond: 50 })).toBe(mine);
  expect(receiveShare(mine, 2, null)).toEqual({ term: 2, number: 0, perSecond: 30 });
  const next = { term: 2, number: 1, perSecond: 5 };
  expect(receiveShare(mine, 2, next)).toBe(next);
  expect(receiveShare(next, 1, mine)).toBe(next);
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
      let branches: Demand[] = [0, 1, 2].map(() => ({
        offered: null,
        confirmed: { number: 0, perSecond: 0 },
        usedLately: 1,
      }));
      for (const { branch, used, confirms, ends } of steps) {
        branches = branches.map((one, i) => {
          if (i !== branch) return one;
          const confirmed = confirms ? confirmShare(one, one.offered, 1) : one;
          return { ...(ends ? endShare(confirmed, 1) : confirmed), usedLately: used };
        });
        for (const [i, perSecond] of share(80, branches, { smallest }).entries()) {
          const one = branches[i];
          const number = Math.max(one?.offered?.number ?? 0, one?.confirmed?.number ?? 0) + 1;
          if (one && perSecond !== null) one.offered = { term: 1, number, perSecond };
        }
        const sum = branches.reduce((total, one) => total + (inForce(one) ?? 0), 0);
        expect(sum).toBeLessThanOrEqual(70 + 1e-9);
        expect(homeShare(80, branches)).toBeGreaterThanOrEqual(10 - 1e-9);
      }
    }),
  );
});
