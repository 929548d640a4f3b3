import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decidePurchase, type PurchaseDecision } from '../../src/purchases/rules/decide.ts';
import { factName, replaces, type StoreFact } from '../../src/purchases/rules/facts.ts';
import type { KnownFact } from '../../src/purchases/rules/payments.ts';
import { generic } from '../../src/stores/provider/generic.ts';
import type { StoreProvider } from '../../src/stores/provider/provider.ts';
import { stripe } from '../../src/stores/provider/stripe.ts';
import { SUBSCRIPTION } from '../stores/decided.ts';
import { paid } from '../stores/shop.ts';
import {
  charge,
  dispute,
  invoice,
  invoicePayment,
  session,
  stripeEvent,
  subscription,
} from '../stores/stripe-bodies.ts';

// Histories of purchases as providers tell them, in any order, each body one to three times, and some of them lost and found later
// by a check: the licenses are the same as of the history in its order.

const OFFER = { ...SUBSCRIPTION, product: 'mill' };

const UNTILS = ['2026-12-01', '2027-01-01', '2027-02-01'];

interface History {
  provider: StoreProvider;
  bodies: object[];
}

const ofGeneric = (parts: boolean[]): History => {
  const [renewed, refunded, disputed, won, pastDue, ended, all, isToldTwice] = parts;
  const [first, second] = UNTILS;
  const about = { order: '1', period_end: first };
  return {
    provider: generic,
    bodies: [
      paid('1', { period_end: first, quantity: 2, amount: 9 }),
      ...(isToldTwice ? [{ type: 'renewed', ...about }] : []),
      ...(renewed ? [{ type: 'renewed', order: '1', period_end: second, quantity: 3 }] : []),
      ...(refunded
        ? [{ type: 'refunded', ...about, amount: 9 }]
        : [{ type: 'refunded', ...about, amount: 5 }]),
      ...(disputed ? [{ type: 'disputed', order: '1', period_end: second }] : []),
      ...(won ? [{ type: 'dispute_won', order: '1', period_end: second }] : []),
      ...(pastDue
        ? [second, UNTILS[2]].map((until) => ({ type: 'past_due', order: '1', period_end: until }))
        : []),
      ...(ended ? [{ type: 'ended', order: '1' }] : []),
      ...(all ? [{ type: 'refunded', order: '1' }] : []),
    ],
  };
};

const ofStripe = (parts: boolean[]): History => {
  const [renewed, refunded, disputed, won, pastDue, ended, isOld = false] = parts;
  const sold = { n: 1, isOld };
  const events: [string, object][] = [
    [
      'checkout.session.completed',
      session(1, { mode: 'subscription', payment_intent: null, subscription: 'sub_1', invoice: 'in_1_1' }),
    ],
    ['invoice.paid', invoice(sold, 1, UNTILS[0] ?? '')],
    ['invoice_payment.paid', invoicePayment(1, 1)],
    ['charge.refunded', charge('1_1', 300, { isOld })],
    ...(renewed
      ? ([
          ['invoice.paid', invoice(sold, 2, UNTILS[1] ?? '')],
          ['invoice_payment.paid', invoicePayment(1, 2)],
        ] as [string, object][])
      : []),
    ...(refunded ? [['charge.refunded', charge('1_1', 900, { isOld })] as [string, object]] : []),
    ...(disputed ? [['charge.dispute.created', dispute('1_2', 'needs_response')] as [string, object]] : []),
    ...(won ? [['charge.dispute.closed', dispute('1_2', 'won')] as [string, object]] : []),
    ...(pastDue
      ? [
          ['invoice.payment_failed', invoice(sold, 3, UNTILS[2] ?? '', { status: 'open' })] as [
            string,
            object,
          ],
        ]
      : []),
    ...(ended ? [['customer.subscription.deleted', subscription(1, 'canceled')] as [string, object]] : []),
  ];
  return { provider: stripe, bodies: events.map(([type, object]) => stripeEvent(type, object)) };
};

/** Takes facts as the service does: by their names, and the one that replaces the other. */
const takeAll = (facts: StoreFact[]): KnownFact[] => {
  const known = new Map<string, KnownFact>();
  for (const fact of facts) {
    const name = factName(fact);
    const earlier = known.get(name);
    if (!earlier || replaces(fact, earlier.fact))
      known.set(name, { fact, takenAtMs: Date.parse('2026-11-02') });
  }
  return [...known.values()];
};

/** What each body says. Histories have few bodies, in many orders. */
const readings = new Map<string, StoreFact[]>();

const read = (provider: StoreProvider, body: string): StoreFact[] => {
  const known = readings.get(body);
  if (known) return known;
  const reading = provider.read({ body, topic: null });
  const facts = reading.kind === 'facts' ? reading.facts : [];
  readings.set(body, facts);
  return facts;
};

const decide = ({ provider }: History, bodies: object[]): PurchaseDecision => {
  const facts = bodies.flatMap((body) => read(provider, JSON.stringify(body)));
  const offers = new Map([
    ['pro', OFFER],
    ['price_pro', OFFER],
  ]);
  return decidePurchase({
    facts: takeAll(facts),
    offers,
    earlier: new Map(),
    assigned: null,
    acceptsTest: false,
  });
};

const parts = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });

test.for([
  ['generic', ofGeneric],
  ['stripe', ofStripe],
] as const)(
  'every order of a history in %s ends alike, with copies and bodies that came late',
  ([, historyOf]) => {
    fc.assert(
      fc.property(
        parts.chain((chosen) => {
          const history = historyOf(chosen);
          const order = fc.shuffledSubarray(history.bodies, {
            minLength: history.bodies.length,
            maxLength: history.bodies.length,
          });
          const copies = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 12, maxLength: 12 });
          return fc.tuple(fc.constant(history), order, copies, fc.integer({ min: 0, max: 12 }));
        }),
        ([history, order, copies, lost]) => {
          const sent = order.flatMap((body, i) => Array.from({ length: copies[i] ?? 1 }, () => body));
          // The check finds everything, in the order in which it happened.
          const found = sent.length > lost ? [...sent.slice(lost), ...history.bodies] : history.bodies;
          const whole = decide(history, history.bodies);
          expect(whole).toMatchObject({ reason: null, email: expect.any(String) });
          expect(decide(history, found)).toEqual(whole);
          expect(decide(history, order)).toEqual(whole);
        },
      ),
      { numRuns: 5_000 },
    );
  },
);

test('a subscription in Stripe ends with its last invoice that was paid and not refunded', () => {
  const wanted = (chosen: boolean[]) => {
    const history = ofStripe(chosen);
    const { status, slots } = decide(history, history.bodies);
    const [slot] = slots;
    return [status, slot?.wanted.status, slot?.wanted.expiresAt, slot?.wanted.graceDays];
  };
  expect(wanted([true])).toEqual(['fulfilled', 'active', '2027-01-01', 7]);
  expect(wanted([true, true])).toEqual(['fulfilled', 'active', '2027-01-01', 7]);
  expect(wanted([false, true])).toEqual(['refunded', 'revoked', '2026-12-01', 7]);
  expect(wanted([true, false, true])).toEqual(['disputed', 'suspended', '2027-01-01', 7]);
  expect(wanted([true, false, true, true])).toEqual(['fulfilled', 'active', '2027-01-01', 7]);
  expect(wanted([true, false, false, false, true])).toEqual(['past_due', 'active', '2027-01-01', 7]);
  expect(wanted([true, false, false, false, true, true])).toEqual(['ended', 'active', '2027-01-01', 0]);
});
