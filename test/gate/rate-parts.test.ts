import { expect, test } from 'vitest';
import { openAdmission } from '../../src/gate/object/admission.ts';
import { COPIED_ACCOUNT, COPIED_KEY } from '../support/gate.ts';

// The parts of the rate limits that home and branches may use.

test('a part of the rate limit allows that part of a burst, and a larger part gives no second burst', () => {
  let part = 0.5;
  const { admit } = openAdmission({ account: () => COPIED_ACCOUNT, key: () => COPIED_KEY }, () => part);
  const { fingerprint } = COPIED_KEY;
  const presented = { keyId: 'key_1', accountId: 'acct_1', fingerprint, ip: null };
  const admitAll = () => {
    let admitted = 0;
    for (let i = 0; i < 30; i++) if (admit(presented, 'verify', 1_000_000).refused === null) admitted++;
    return admitted;
  };
  expect(admitAll()).toBe(10);
  part = 1;
  expect(admitAll()).toBe(0);
});

test('a part of the rate limit that is added starts empty', () => {
  const keyOf = (fingerprint: string) => ({ ...COPIED_KEY, fingerprint });
  let part = 0;
  const { admit, noteShare } = openAdmission({ account: () => COPIED_ACCOUNT, key: keyOf }, () => part);
  const burstOf = (keyId: string, nowMs: number) => {
    const presented = { keyId, accountId: 'acct_1', fingerprint: keyId, ip: null };
    const admissions = Array.from({ length: 30 }, () => admit(presented, 'verify', nowMs));
    return admissions.filter(({ refused }) => refused === null).length;
  };
  const raise = (to: number, nowMs: number) => {
    part = to;
    noteShare(nowMs);
  };
  raise(0.2, 10_000);
  expect(burstOf('new', 10_000)).toBe(0);
  expect(burstOf('used', 12_000)).toBe(4);
  raise(0.4, 13_000);
  // The key has recovered half of the first part.
  expect(burstOf('used', 13_000)).toBe(2);
  expect(burstOf('new', 13_000)).toBe(4);
  expect(burstOf('used', 15_000)).toBe(8);
  part = 0.2;
  expect(burstOf('new', 15_000)).toBe(4);
});
