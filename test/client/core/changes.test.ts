import { expect, test } from 'vitest';
import { answered, dropped, left } from '../../../src/client/core/changes.ts';
import type { Holding } from '../../../src/client/core/holding.ts';
import { EMPTY_RECORD, type LicenseRecord } from '../../../src/client/core/record.ts';
import { storedVerdict } from '../../../src/client/core/verdicts.ts';
import type { Claims } from '../../../src/shared/rules/tokens.ts';

const NOW = 1_000_000;
const verdictOf = (iat: number) =>
  storedVerdict({ iat, exp: iat + 86_400, valid: true, act: null, lk: 'lk' } as Claims);
const held = (record: Partial<LicenseRecord>): Holding => ({
  record: { ...EMPTY_RECORD, licenseKey: 'key', token: 'token', answeredAt: NOW, ...record },
  verdict: verdictOf(NOW),
  file: null,
});

/** What an answer of a verify that was signed at a time makes of a holding. */
const verified = (holding: Holding, iat: number, isActivation = false) =>
  answered({ verdict: verdictOf(iat), token: 'newer' }, 'key', {
    isActivation,
    switched: { answeredAt: NaN, iat: NaN },
    ownMs: iat * 1_000,
  })(holding);

test('an answer that was overtaken by a later one changes nothing', () => {
  const holding = held({});
  expect(verified(holding, NOW - 59)).toBe(holding);
  // The service's clock was set back, so this is no call of the same time.
  expect(verified(holding, NOW - 60).record.token).toBe('newer');
  expect(verified(holding, NOW - 59, true).record.token).toBe('newer');
});

test('an answer about the key of before, or about a seat that was given back, changes nothing', () => {
  for (const record of [{ licenseKey: 'another' }, { isReleased: true }]) {
    const holding = held(record);
    expect(verified(holding, NOW + 1)).toBe(holding);
  }
});

test('an activation with another key is later than all that was stored under the key of before', () => {
  const { record } = verified(held({ licenseKey: 'before' }), NOW - 30, true);
  expect(record).toMatchObject({ licenseKey: 'key', leaving: 'before', answeredAt: NOW + 1 });
});

test('an activation after a seat was given back is later than that, even within the same second', () => {
  const { record } = verified(dropped()(held({})), NOW, true);
  expect(record).toMatchObject({ isReleased: false, answeredAt: NOW + 2 });
});

test('what was dropped is later than the answers to calls in progress', () => {
  expect(dropped()(held({})).record).toMatchObject({ token: null, isReleased: true, answeredAt: NOW + 1 });
});

test('a seat that was given back is no longer to be given back, and another one still is', () => {
  expect(left('before')(held({ leaving: 'before' })).record.leaving).toBeNull();
  expect(left('before')(held({ leaving: 'another' })).record.leaving).toBe('another');
  expect(left('before')(held({ leaving: 'another,before' })).record.leaving).toBe('another');
});

test('of license keys that are typed one after another, the last nine seats are to be given back', () => {
  const typed = Array.from({ length: 12 }, (_, index) => `key-${index}`);
  const leaving = typed.reduce<string | null>(
    (before, licenseKey) => verified(held({ licenseKey, leaving: before }), NOW, true).record.leaving,
    null,
  );
  expect(leaving).toBe(typed.slice(-9).join());
});
