import { expect, test } from 'vitest';
import { changeLicense as changeBy, type Held } from '../../src/purchases/rules/change-license.ts';
import type { WantedLicense } from '../../src/shared/rules/sold-offer.ts';

const WANTED: WantedLicense = {
  status: 'active',
  product: 'mill',
  expiresAt: '2099-01-31',
  graceDays: 7,
  seats: null,
};
type HeldBy = Omit<Held, 'offer'>;
const HELD: HeldBy = { wanted: WANTED, setStatus: null, returnsTo: null };

/** Of a license whose offer has no terms. */
const changeLicense = (held: HeldBy, now: Parameters<typeof changeBy>[1], wanted: WantedLicense) =>
  changeBy({ ...held, offer: { terms: {} } }, now, wanted, {});

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
  const held: HeldBy = { wanted: suspended, setStatus: 'suspended', returnsTo: 'active' };
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

test('terms follow the offer that was paid, entry by entry, but for what the seller has changed', () => {
  const solo = { max_activations: 1, entitlements: { export: false, seats: 1, team: false } };
  const team = { max_activations: 5, offline_days: 30, entitlements: { export: true, seats: 5 } };
  const upgrade = (terms: object) =>
    changeBy(
      { ...HELD, offer: { terms: solo } },
      { ...NOW, terms: { grace_days: 7, ...terms } },
      WANTED,
      team,
    ).fields.terms;
  expect(upgrade(solo)).toEqual({ grace_days: 7, ...team });
  const byHand = { max_activations: 3, entitlements: { export: false, seats: 2, team: false, gift: true } };
  expect(upgrade(byHand)).toEqual({
    grace_days: 7,
    max_activations: 3,
    offline_days: 30,
    entitlements: { export: true, seats: 2, gift: true },
  });
  const unchanged = { entitlements: { a: 1 }, grace_days: 7 };
  const held = { ...HELD, offer: { terms: { entitlements: { a: 1 } } } };
  expect(changeBy(held, { ...NOW, terms: unchanged }, WANTED, { entitlements: { a: 1 } }).fields).toEqual({});
});
