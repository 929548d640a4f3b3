import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS } from '../../../src/shared/rules/dates.ts';
import { checkoutSession, invoice, items, type StripeObject } from '../../support/stripe-objects.ts';
import {
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  signUpWithStripe,
  type StripePayer,
} from '../../support/stripe.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);

const permutationsOf = <T>(list: T[]): T[][] =>
  list.length === 0
    ? [[]]
    : list.flatMap((first, i) => permutationsOf(list.toSpliced(i, 1)).map((rest) => [first, ...rest]));

const NOTIFICATIONS = ['completed', 'updated', 'first invoice', 'second invoice'] as const;
type Name = (typeof NOTIFICATIONS)[number];

interface Arrival {
  order: Name[];
  /** The number of notifications that arrive before the second month begins. */
  early: number;
}

/** Every order, with all notifications late and with as many as possible early. */
const ARRIVALS: Arrival[] = permutationsOf([...NOTIFICATIONS]).flatMap((order) =>
  [...new Set([0, order.indexOf('second invoice')])].map((early) => ({ order, early })),
);
const PAYMENT = { plan: 'pro', status: 'paid', amount: 2_900, currency: 'usd' };

/** Runs a subscription for two months, returns the resulting state and ends the subscription. */
const runSubscription = async (payer: StripePayer, arrival: Arrival, isPaid: boolean) => {
  // Stripe's times are whole seconds, and `expect.poll` has advanced the fake clock by milliseconds.
  const beginMs = Math.ceil(Date.now() / 1_000) * 1_000;
  vi.setSystemTime(beginMs);
  const renewalMs = addMonths(beginMs, 1);
  const first = month(beginMs);
  const second = month(renewalMs, {
    status: isPaid ? 'paid' : 'open',
    billing_reason: 'subscription_cycle',
  });
  const atStripe = await paidAtStripe(await payer.begin('pro'), await newStripeCustomer(), first);
  const notifications: Record<Name, () => [string, StripeObject]> = {
    completed: () => ['checkout.session.completed', checkoutSession(atStripe)],
    updated: () => ['customer.subscription.updated', { id: atStripe.id, object: 'subscription' }],
    'first invoice': () => ['invoice.paid', invoice(first, atStripe.id)],
    'second invoice': () => [
      isPaid ? 'invoice.paid' : 'invoice.payment_failed',
      invoice(second, atStripe.id),
    ],
  };
  const send = async (names: Name[]) => {
    for (const name of names) expect(await notify(...notifications[name]())).toMatchObject({ status: 200 });
  };

  await send(arrival.order.slice(0, arrival.early));
  vi.setSystemTime(renewalMs + 60_000);
  await atStripe.put({
    status: isPaid ? 'active' : 'past_due',
    items: items(second),
    latest_invoice: invoice(second, atStripe.id),
  });
  await send(arrival.order.slice(arrival.early));

  const { account, subscriptions, payments } = await payer.billingRows(beginMs);
  const relative = (ms: number | null) => (ms === null ? null : (ms - renewalMs) / DAY_MS);
  const state = {
    plan: account.map(({ plan, plan_until }) => ({ plan, untilDay: relative(plan_until) })),
    subscriptions: subscriptions.map(({ plan, status, period_start, ends_at }) => ({
      plan,
      status,
      periodStartDay: relative(period_start),
      endsDay: relative(ends_at),
    })),
    samePeriod: account[0]?.period_start === subscriptions[0]?.period_start,
    payments,
    events: (await payer.events(beginMs)).map(({ event }) => event),
    apiLimit: await payer.apiLimit(),
  };
  await atStripe.put({ status: 'canceled', ended_at: Math.floor(Date.now() / 1_000) });
  const ended = await notify('customer.subscription.deleted', { id: atStripe.id, object: 'subscription' });
  expect(ended.status).toBe(200);
  expect(await payer.apiLimit()).toBe(1_000);
  vi.setSystemTime(addMonths(beginMs, 2));
  return state;
};

// All subscriptions belong to one account and follow each other on a clock that only moves forward.
let payer: StripePayer;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: START_MS });
  payer = await signUpWithStripe();
});
afterAll(() => {
  vi.useRealTimers();
});

describe.for([
  {
    renewal: 'paid' as const,
    expected: {
      plan: [{ plan: 'pro', untilDay: null }],
      subscriptions: [{ plan: 'pro', status: 'active', periodStartDay: 0, endsDay: null }],
      payments: [PAYMENT, PAYMENT],
      events: ['payment.success', 'payment.success'],
    },
  },
  {
    renewal: 'failed' as const,
    expected: {
      plan: [{ plan: 'pro', untilDay: 7 + 60_000 / DAY_MS }],
      subscriptions: [{ plan: 'pro', status: 'past_due', periodStartDay: 0, endsDay: null }],
      payments: [PAYMENT],
      events: ['payment.success', 'payment.failed'],
    },
  },
])('with a $renewal renewal, notifications lead to the same state in the order', ({ renewal, expected }) => {
  const describeArrival = ({ order, early }: Arrival) =>
    order.map((name, i) => (i < early ? `${name} (early)` : name)).join(', ');
  const rows = ARRIVALS.map((arrival) => [describeArrival(arrival), arrival] as const);

  test.for(rows)('%s', async ([, arrival]) => {
    const state = await runSubscription(payer, arrival, renewal === 'paid');
    expect(state).toEqual({ ...expected, samePeriod: true, apiLimit: 100_000 });
  });
});
