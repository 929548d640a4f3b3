import type { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { toFacts } from '../../../src/billing/provider/stripe-facts.ts';
import { planByPrice } from '../../../src/billing/provider/stripe-prices.ts';
import { type Invoice, invoice, subscription } from '../../support/stripe-objects.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);

const kindsOf = (status: string, latest: Invoice, firstPaid: Invoice | null) => {
  const metadata = { latchkey_payment_id: 'pay_1' };
  const object = { ...subscription('sub_1', metadata, 'cus_1', latest), status };
  const paid = firstPaid && (invoice(firstPaid) as unknown as Stripe.Invoice);
  const facts = toFacts(object as unknown as Stripe.Subscription, START_MS, planByPrice(null), paid);
  return facts.map((fact) => (fact.kind === 'terms' ? `terms, failing ${fact.failingRef}` : fact.kind));
};

const invoiced = (reason: string, status: Invoice['status']) =>
  ({
    id: 'in_1',
    status,
    billing_reason: reason,
    periodStartMs: START_MS,
    periodEndMs: START_MS + 1,
    amount: 1,
  }) as Invoice;

const FIRST = invoiced('subscription_create', 'paid');

// A change of the billing date is a `subscription_update`, and what an operator adds by hand is `manual`.
test.for(['subscription_cycle', 'subscription_update', 'subscription_threshold', 'manual'])(
  'an invoice because of %s is overdue until it is paid, and then settled',
  (reason) => {
    const open = invoiced(reason, 'open');
    expect(kindsOf('past_due', open, FIRST)).toEqual(['bought', 'terms, failing in_1']);
    expect(kindsOf('past_due', open, null)).toEqual(['terms, failing in_1']);
    expect(kindsOf('active', invoiced(reason, 'paid'), FIRST)).toEqual([
      'bought',
      'settled',
      'terms, failing null',
    ]);
  },
);

test('nothing is bought until the first invoice is paid, whatever the subscription’s status', () => {
  const open = invoiced('subscription_create', 'open');
  expect(kindsOf('active', open, null)).toEqual(['terms, failing null']);
  for (const status of ['past_due', 'unpaid'])
    expect(kindsOf(status, open, null)).toEqual(['terms, failing in_1']);
  expect(kindsOf('canceled', open, null)).toEqual(['ended']);
  expect(kindsOf('incomplete', open, null)).toEqual([]);
  expect(kindsOf('active', FIRST, FIRST)).toEqual(['bought', 'terms, failing null']);
});
