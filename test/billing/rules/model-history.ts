import { toChargeFacts, toFacts, toInvoiceFacts } from '../../../src/billing/provider/stripe-facts.ts';
import { planByPrice } from '../../../src/billing/provider/stripe-prices.ts';
import type { Fact } from '../../../src/billing/rules/fact.ts';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { openBooks } from './model-books.ts';
import {
  firstPaidOf,
  latestOf,
  type ModelInvoice,
  type ModelSubscription,
  openStripe,
  recentOf,
  toStripeCharge,
  toStripeInvoice,
  toStripeSubscription,
} from './model-stripe.ts';

// Plays a history of one account at Stripe, whose notifications come late, repeatedly, out of order, and in parallel.

const START_MS = Date.UTC(2027, 0, 10, 12);
const planOf = planByPrice(null);

/** What a notification is about. It's read when it arrives, which is before its facts are applied. */
interface Notice {
  subscription: ModelSubscription;
  invoice: ModelInvoice;
  isCharge: boolean;
}

export const ACTIONS = [
  'start',
  'start',
  'pay',
  'pay',
  'hours',
  'days',
  'month',
  'month',
  'fail',
  'retry',
  'refund',
  'refundPart',
  'dispute',
  'decideDispute',
  'cancel',
  'resume',
  'end',
  'lose',
  'arrive',
  'arrive',
  'arrive',
  'apply',
  'apply',
  'apply',
  'repeat',
] as const;

interface Step {
  action: (typeof ACTIONS)[number];
  pick: number;
}

/** `asksAgain` says whether the scheduled run asks about every subscription in the end, also about what nobody has told. */
export const play = (steps: Step[], { asksAgain = true } = {}) => {
  let nowMs = START_MS;
  const clock = () => nowMs;
  const stripe = openStripe(clock);
  const books = openBooks(stripe, clock);
  const notices: Notice[] = [];
  const reads: Fact[][] = [];
  const payable: { id: string; plan: 'pro' | 'scale'; untilMs: number }[] = [];

  const notify = (subscription: ModelSubscription, invoice = latestOf(subscription), isCharge = false) =>
    void notices.push({ subscription, invoice, isCharge });
  const ofCharge = (model: ModelSubscription, invoice: ModelInvoice): Fact[] => {
    const { charge, dispute } = toStripeCharge(invoice);
    return toChargeFacts(
      toStripeSubscription(model),
      toStripeInvoice(model, invoice),
      charge,
      dispute,
      planOf,
    );
  };
  const read = ({ subscription: model, invoice, isCharge }: Notice): Fact[] => {
    const subscription = toStripeSubscription(model);
    return toFacts(subscription, nowMs, planOf, firstPaidOf(model), [
      ...toInvoiceFacts(subscription, toStripeInvoice(model, invoice), planOf),
      ...(isCharge ? ofCharge(model, invoice) : []),
    ]);
  };
  /** Asks about a subscription, as the scheduled run does. */
  const ask = (model: ModelSubscription) => {
    const charges = recentOf(model).flatMap((invoice) => ofCharge(model, invoice));
    toFacts(toStripeSubscription(model), nowMs, planOf, firstPaidOf(model), charges).forEach(books.apply);
  };
  /** Within a day, the scheduled run has asked about each checkout that was paid, and what is overdue or over. */
  const check = () => {
    for (const subscription of stripe.subscriptions) {
      const row = books.subscriptions.find(({ providerRef }) => providerRef === subscription.id);
      const isPaidCheckout = row === undefined && nowMs >= subscription.startMs;
      const isDue =
        row &&
        row.status !== 'ended' &&
        (row.status === 'past_due' || (row.endsAt ?? row.periodEnd) <= nowMs);
      if (isPaidCheckout || isDue) ask(subscription);
    }
  };
  const pass = (ms: number, isPaid: boolean) => {
    for (let leftMs = ms; leftMs > 0; leftMs -= DAY_MS) {
      if (leftMs >= DAY_MS) check();
      nowMs += Math.min(leftMs, DAY_MS);
      for (const subscription of stripe.subscriptions)
        while (stripe.passPeriod(subscription, isPaid)) notify(subscription);
    }
  };
  const choose = <T>(list: T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)];
  const choosePaid = (pick: number) =>
    choose(
      stripe.subscriptions.flatMap((subscription) =>
        subscription.invoices
          .filter(({ status, amount, refunded }) => status === 'paid' && amount > refunded)
          .map((invoice) => ({ subscription, invoice })),
      ),
      pick,
    );
  const running = () => stripe.subscriptions.filter(({ status }) => status !== 'canceled');

  const start = (pick: number) => {
    const payment = books.start(pick % 2 === 0 ? 'pro' : 'scale');
    if (!payment) return;
    const row = books.subscriptions.find(({ id }) => id === payment.subscriptionId);
    const changed = running().find(({ id }) => id === row?.providerRef);
    if (!row) payable.push({ id: payment.id, plan: payment.plan, untilMs: nowMs + DAY_MS });
    // Its owner confirms the change at once, or never.
    if (!changed || pick % 3 === 0 || changed.status !== 'active') return;
    if (changed.plan !== payment.plan) stripe.change(changed, payment.plan);
    changed.endsWithPeriod = false;
    notify(changed);
    ask(changed);
  };

  const run = ({ action, pick }: Step) => {
    nowMs += 1_000;
    switch (action) {
      case 'start':
        return start(pick);
      case 'pay': {
        const checkout = choose(payable, pick);
        if (!checkout || checkout.untilMs < nowMs) return undefined;
        payable.splice(payable.indexOf(checkout), 1);
        return notify(stripe.begin(checkout.id, checkout.plan));
      }
      case 'hours':
        return pass((1 + (pick % 20)) * HOUR_MS, true);
      case 'days':
        return pass((1 + (pick % 12)) * DAY_MS, true);
      case 'month':
        return pass(31 * DAY_MS, true);
      case 'fail':
        return pass(31 * DAY_MS, false);
      case 'retry': {
        const subscription = choose(stripe.subscriptions, pick);
        const open = subscription?.invoices.find(({ status }) => status === 'open');
        if (!subscription || !open) return undefined;
        stripe.pay(subscription, open);
        return notify(subscription, open);
      }
      case 'refund':
      case 'refundPart': {
        const paid = choosePaid(pick);
        if (!paid) return undefined;
        const { invoice, subscription } = paid;
        invoice.refunded =
          action === 'refund' ? invoice.amount : Math.min(invoice.amount, invoice.refunded + 500);
        return notify(subscription, invoice, true);
      }
      case 'dispute': {
        const paid = choosePaid(pick);
        if (!paid || paid.invoice.dispute !== null || paid.invoice.refunded > 0) return undefined;
        paid.invoice.dispute = 'open';
        return notify(paid.subscription, paid.invoice, true);
      }
      case 'decideDispute': {
        for (const subscription of stripe.subscriptions)
          for (const invoice of subscription.invoices) {
            if (invoice.dispute !== 'open') continue;
            invoice.dispute = pick % 2 === 0 ? 'won' : 'lost';
            notify(subscription, invoice, true);
          }
        return undefined;
      }
      case 'cancel':
      case 'resume': {
        const subscription = choose(running(), pick);
        if (!subscription) return undefined;
        subscription.endsWithPeriod = action === 'cancel';
        return notify(subscription);
      }
      case 'end': {
        const subscription = choose(running(), pick);
        if (!subscription) return undefined;
        Object.assign(subscription, { status: 'canceled', endedMs: nowMs, isEndedThere: true });
        return notify(subscription);
      }
      case 'lose': {
        const lost = choose(notices, pick);
        if (!lost) return undefined;
        notices.splice(notices.indexOf(lost), 1);
        // The run asks about the latest invoices only.
        if (lost.isCharge || lost.invoice !== latestOf(lost.subscription)) lost.invoice.isUntold = true;
        return undefined;
      }
      case 'arrive': {
        const notice = choose(notices, pick);
        if (!notice) return undefined;
        notices.splice(notices.indexOf(notice), 1);
        return void reads.push(read(notice));
      }
      case 'apply': {
        const facts = choose(reads, pick);
        if (!facts) return undefined;
        reads.splice(reads.indexOf(facts), 1);
        return facts.forEach(books.apply);
      }
      case 'repeat':
      default: {
        const subscription = choose(stripe.subscriptions, pick);
        return subscription && notify(subscription, choose(subscription.invoices, pick), true);
      }
    }
  };

  /** In the end what was not lost has arrived, and the scheduled run has asked about what is live. */
  const settle = () => {
    for (const facts of reads.splice(0)) facts.forEach(books.apply);
    for (let turn = 0; turn < 3; turn++) {
      nowMs += 1_000;
      for (const notice of notices.splice(0)) read(notice).forEach(books.apply);
      if (asksAgain) stripe.subscriptions.forEach(ask);
    }
  };

  steps.forEach(run);
  settle();
  return { stripe, books, nowMs };
};
