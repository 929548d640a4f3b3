import { beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { addMonths } from '../../src/shared/rules/dates.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import {
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  signUpWithStripe,
  type StripePayer,
} from '../support/stripe.ts';
import { checkoutSession, invoice, items, type StripeObject } from '../support/stripe-objects.ts';

const BEGUN_MS = Date.UTC(2027, 0, 10, 12);

beforeEach(() => {
  useFakeClock(BEGUN_MS);
});

const permutationsOf = <T>(list: T[]): T[][] =>
  list.length === 0
    ? [[]]
    : list.flatMap((first, i) => permutationsOf(list.toSpliced(i, 1)).map((rest) => [first, ...rest]));

const NOTIFICATIONS = ['completed', 'updated', 'first invoice', 'second invoice'] as const;
type Name = (typeof NOTIFICATIONS)[number];

/** `early` of them arrive before the second month begins, and Stripe shows what it shows then. */
interface Arrival {
  order: Name[];
  early: number;
}

/** All late, or each as early as it can be. */
const ARRIVALS: Arrival[] = permutationsOf([...NOTIFICATIONS]).flatMap((order) =>
  [...new Set([0, order.indexOf('second invoice')])].map((early) => ({ order, early })),
);
const PAYMENT = { plan: 'pro', status: 'paid', amount: 2_900, currency: 'usd' };
const IN_TIME: Arrival = { order: [...NOTIFICATIONS], early: 3 };

/** A life of two months and its notifications; gives how things stand then, and ends it. */
const live = async (payer: StripePayer, arrival: Arrival, isPaid: boolean) => {
  const beginMs = Date.now();
  const renewalMs = addMonths(beginMs, 1);
  const first = month(beginMs);
  const second = month(renewalMs, {
    status: isPaid ? 'paid' : 'open',
    billing_reason: 'subscription_cycle',
  });
  const atStripe = await paidAtStripe(await payer.begin('pro'), await newStripeCustomer(), first);
  const told: Record<Name, () => [string, StripeObject]> = {
    completed: () => ['checkout.session.completed', checkoutSession(atStripe)],
    updated: () => ['customer.subscription.updated', { id: atStripe.id, object: 'subscription' }],
    'first invoice': () => ['invoice.paid', invoice(first, atStripe.id)],
    'second invoice': () => [
      isPaid ? 'invoice.paid' : 'invoice.payment_failed',
      invoice(second, atStripe.id),
    ],
  };
  const tell = async (names: Name[]) => {
    for (const name of names) expect(await notify(...told[name]())).toMatchObject({ status: 200 });
  };

  await tell(arrival.order.slice(0, arrival.early));
  vi.setSystemTime(renewalMs + 60_000);
  await atStripe.put({
    status: isPaid ? 'active' : 'past_due',
    items: items(second),
    latest_invoice: invoice(second, atStripe.id),
  });
  await tell(arrival.order.slice(arrival.early));

  const { account, subscriptions, payments } = await payer.books(beginMs);
  const relative = (ms: number | null) => (ms === null ? null : (ms - renewalMs) / DAY_MS);
  const end = {
    plan: account.map(({ plan, plan_until }) => ({ plan, untilDay: relative(plan_until) })),
    subscriptions: subscriptions.map(({ plan, status, period_start, ends_at }) => ({
      plan,
      status,
      periodStartDay: relative(period_start),
      endsDay: relative(ends_at),
    })),
    samePeriod: account[0]?.period_start === subscriptions[0]?.period_start,
    payments,
    events: (await payer.told(beginMs)).map(({ event }) => event),
    apiLimit: await payer.apiLimit(),
  };
  await atStripe.put({ status: 'canceled', ended_at: Date.now() / 1_000 });
  await notify('customer.subscription.deleted', { id: atStripe.id, object: 'subscription' });
  expect(await payer.apiLimit()).toBe(1_000);
  vi.setSystemTime(addMonths(beginMs, 2));
  return end;
};

test('a subscription’s first four notifications, its renewal among them, end alike in every order and at any delay', async () => {
  const payer = await signUpWithStripe();
  expect(await live(payer, IN_TIME, true)).toEqual({
    plan: [{ plan: 'pro', untilDay: null }],
    subscriptions: [{ plan: 'pro', status: 'active', periodStartDay: 0, endsDay: null }],
    samePeriod: true,
    payments: [PAYMENT, PAYMENT],
    events: ['payment.success', 'payment.success'],
    apiLimit: 100_000,
  });
  const inTime = await live(payer, IN_TIME, true);
  for (const arrival of ARRIVALS) {
    expect([arrival, await live(payer, arrival, true)]).toEqual([arrival, inTime]);
  }
});

test('a subscription’s first four notifications, a failed renewal among them, end alike in every order and at any delay', async () => {
  const payer = await signUpWithStripe();
  const inTime = await live(payer, IN_TIME, false);
  expect(inTime).toEqual({
    plan: [{ plan: 'pro', untilDay: 7 }],
    subscriptions: [{ plan: 'pro', status: 'past_due', periodStartDay: 0, endsDay: null }],
    samePeriod: true,
    payments: [PAYMENT],
    events: ['payment.success'],
    apiLimit: 100_000,
  });
  for (const arrival of ARRIVALS) {
    expect([arrival, await live(payer, arrival, false)]).toEqual([arrival, inTime]);
  }
});
