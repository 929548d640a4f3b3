import { expect, test } from 'vitest';
import { changeLicense, type Held } from '../../src/purchases/rules/change-license.ts';
import type { WantedLicense } from '../../src/shared/rules/sold-offer.ts';

const WANTED: WantedLicense = {
  status: 'active',
  product: 'mill',
  expiresAt: '2099-01-31',
  graceDays: 7,
  seats: null,
};
const HELD: Held = { wanted: WANTED, setStatus: null, returnsTo: null };
const NOW = { status: 'active', product: 'mill', expiresAt: '2099-01-31', terms: { grace_days: 7 } } as const;

const revoked = { ...WANTED, status: 'revoked' } as const;
const suspended = { ...WANTED, status: 'suspended' } as const;

test('what a refund has revoked, a later fact lifts', () => {
  const { fields, ...marks } = changeLicense(HELD, NOW, revoked);
  expect([fields, marks]).toEqual([{ status: 'revoked' }, { setStatus: 'revoked', returnsTo: 'active' }]);
  const lifted = changeLicense({ wanted: revoked, ...marks }, { ...NOW, status: 'revoked' }, WANTED);
  expect(lifted).toEqual({ fields: { status: 'active' }, setStatus: null, returnsTo: null });
});

test('what a seller has revoked or suspended by hand stays', () => {
  const byHand = { ...NOW, status: 'revoked' } as const;
  const disputed = changeLicense(HELD, byHand, suspended);
  expect(disputed).toEqual({ fields: {}, setStatus: null, returnsTo: null });
  expect(changeLicense({ ...HELD, wanted: suspended }, byHand, WANTED).fields).toEqual({});

  const held = { ...NOW, status: 'suspended' } as const;
  const marks = changeLicense(HELD, held, revoked);
  expect(marks).toEqual({ fields: { status: 'revoked' }, setStatus: 'revoked', returnsTo: 'suspended' });
  const after = { wanted: revoked, setStatus: marks.setStatus, returnsTo: marks.returnsTo };
  expect(changeLicense(after, { ...NOW, status: 'revoked' }, WANTED).fields).toEqual({ status: 'suspended' });
});

test('a seller who has reinstated a license isn’t overruled while nothing new is known', () => {
  const held: Held = { wanted: suspended, setStatus: 'suspended', returnsTo: 'active' };
  expect(changeLicense(held, NOW, suspended).fields).toEqual({});
});

test('a license that was prolonged by hand keeps that, and a payment for longer prolongs it', () => {
  const longer = { ...NOW, expiresAt: '2099-06-30' };
  const until = (expiresAt: string) => changeLicense(HELD, longer, { ...WANTED, expiresAt }).fields;
  expect(until('2099-01-31')).toEqual({});
  expect(until('2099-02-28')).toEqual({});
  expect(until('2099-07-31')).toEqual({ expiresAt: '2099-07-31' });
  expect(changeLicense(HELD, NOW, { ...WANTED, expiresAt: '2099-02-28' }).fields).toEqual({
    expiresAt: '2099-02-28',
  });
});

test('seats and days of grace follow the purchase, and other terms stay', () => {
  const now = { ...NOW, terms: { grace_days: 7, offline_days: 3 } };
  expect(changeLicense(HELD, now, { ...WANTED, graceDays: 0, seats: 5 }).fields).toEqual({
    terms: { grace_days: 0, offline_days: 3, max_activations: 5 },
  });
});
