import * as z from 'zod';
import type { PurchaseLine, StoreFact, Thing } from '../../purchases/rules/facts.ts';
import {
  buyerOf,
  id,
  optionalEmail,
  optionalId,
  optionalName,
  optionalTime,
  said,
  time,
  type StoreTold,
} from './parts.ts';

// What the objects of Paddle Billing say. Each has the time of its last change, which decides between two copies.

const minorUnits = z.string().max(30).transform(Number).pipe(z.number());

const soldItem = z.object({
  price: z.object({ id, product_id: optionalId, billing_cycle: z.object({}).nullish() }),
  quantity: z.number(),
});

const toLine = ({ price, quantity }: z.output<typeof soldItem>): PurchaseLine => ({
  refs: [price.id, ...(price.product_id === undefined ? [] : [price.product_id])],
  quantity,
});

const transaction = z.object({
  id,
  status: z.string(),
  customer_id: optionalId,
  subscription_id: optionalId,
  invoice_number: optionalId,
  currency_code: z.string().max(10).nullish(),
  origin: z.string().nullish(),
  billing_period: z.object({ ends_at: time }).nullish(),
  items: z.array(soldItem.extend({ proration: z.object({}).nullish() })).max(200),
  details: z.object({ totals: z.object({ total: minorUnits }) }).nullish(),
  created_at: time,
  updated_at: time,
  billed_at: optionalTime,
});

const PAID = new Set(['paid', 'completed']);

/** Paddle bills the difference, also by negative quantities, and what is charged once beside a subscription. */
const CHANGES = new Set(['subscription_update', 'subscription_charge']);

/** Paddle takes a new card by a transaction for nothing, which has the subscription's items and a period that ends as it begins. */
const isChangeOfCard = ({ origin, details }: z.output<typeof transaction>): boolean =>
  origin === 'subscription_payment_method_change' && (details?.totals.total ?? 0) === 0;

const subscriptionOf = (subscriptionId: string | undefined): { with?: Thing[] } =>
  subscriptionId === undefined ? {} : { with: [`subscription/${subscriptionId}`] };

const transactionFacts = (data: unknown): StoreTold => {
  const sent = transaction.parse(data);
  if (isChangeOfCard(sent)) return { facts: [] };
  const about = {
    about: `transaction/${sent.id}` as Thing,
    ...subscriptionOf(sent.subscription_id),
    atMs: sent.billed_at ?? sent.created_at,
    version: sent.updated_at,
  };
  if (sent.status === 'past_due') return { facts: [{ kind: 'past_due', ...about }] };
  if (!PAID.has(sent.status)) return { facts: [] };
  const sender = buyerOf(undefined, undefined, sent.customer_id);
  // The transaction names its subscription once it is completed, seconds later. Until then it doesn't count as paid: a renewal
  // that came before would be a purchase of its own.
  const begins = sent.items.some(({ price }) => price.billing_cycle) && sent.subscription_id === undefined;
  if (begins && sent.status === 'paid') return { facts: [{ kind: 'ordered', ...about, ...sender }] };
  const areChanges = CHANGES.has(sent.origin ?? '');
  // Without proration, only what is new is billed, and what was replaced isn't named: see the subscription.
  const isFull = sent.origin === 'subscription_update' && sent.items.every(({ proration }) => !proration);
  // A renewal can also bill what was changed in the period before, which it renews in whole.
  const renewed = sent.items.filter(({ quantity, proration }) => !proration && quantity > 0);
  const sold = areChanges || renewed.length === 0 ? sent.items : renewed;
  const lines = sold.map(toLine);
  return {
    facts: [
      {
        kind: 'paid',
        ...about,
        number: sent.invoice_number ?? sent.id,
        ...sender,
        ...(isFull
          ? { billed: sold.map(({ price }) => price.id) }
          : areChanges
            ? { lines, areChanges: true as const }
            : { lines: lines.filter(({ quantity }) => quantity > 0) }),
        ...said({ amount: sent.details?.totals.total, currency: sent.currency_code }),
        ...(sent.billing_period && { covers: { untilMs: sent.billing_period.ends_at } }),
      },
    ],
    // A transaction names its customer, and not the address.
    ...(sent.customer_id !== undefined && { asks: [`customer/${sent.customer_id}`] }),
  };
};

const adjustment = z.object({
  id,
  action: z.string(),
  transaction_id: id,
  subscription_id: optionalId,
  status: z.string(),
  type: z.string().nullish(),
  totals: z.object({ total: minorUnits }),
  created_at: time,
  updated_at: optionalTime,
});

const adjustmentFacts = (data: unknown): StoreTold => {
  const sent = adjustment.parse(data);
  const of: Thing = `transaction/${sent.transaction_id}`;
  const common = { of, ...subscriptionOf(sent.subscription_id), atMs: sent.created_at };
  const isReversed = sent.status === 'reversed';
  // One that waits for Paddle's approval, or was rejected, has given nothing back.
  if (sent.status !== 'approved' && !isReversed) return { facts: [] };
  if (sent.action === 'refund') {
    const amount = sent.type === 'full' ? null : sent.totals.total;
    const version = sent.updated_at ?? sent.created_at;
    const about: Thing = `refund/${sent.id}`;
    return { facts: [{ kind: 'refunded', about, ...common, version, amount: isReversed ? 0 : amount }] };
  }
  // Both name the transaction only, so the dispute is known by it.
  const about: Thing = `dispute/${sent.transaction_id}`;
  if (sent.action === 'chargeback' && !isReversed)
    return { facts: [{ kind: 'disputed', about, ...common, state: 'open' }] };
  if (sent.action === 'chargeback_reverse')
    return { facts: [{ kind: 'disputed', about, ...common, state: 'won' }] };
  return { facts: [] };
};

const subscription = z.object({
  id,
  status: z.string(),
  transaction_id: optionalId,
  canceled_at: optionalTime,
  current_billing_period: z.object({ ends_at: time }).nullish(),
  items: z.array(soldItem).max(200).nullish(),
  updated_at: time,
});

const subscriptionFacts = (data: unknown): StoreTold => {
  const sent = subscription.parse(data);
  const about = { about: `subscription/${sent.id}` as Thing };
  const facts: StoreFact[] = [];
  if (sent.transaction_id !== undefined)
    facts.push({ kind: 'linked', ...about, with: [`transaction/${sent.transaction_id}`] });
  const untilMs = sent.current_billing_period?.ends_at;
  if (untilMs !== undefined && sent.items)
    facts.push({
      kind: 'renews',
      ...about,
      untilMs,
      version: sent.updated_at,
      lines: sent.items.map(toLine),
    });
  if (sent.status === 'past_due')
    facts.push({ kind: 'past_due', ...about, atMs: sent.updated_at, version: sent.updated_at });
  if (sent.status === 'canceled')
    facts.push({ kind: 'ended', ...about, ...said({ atMs: sent.canceled_at }) });
  return { facts };
};

const customer = z.object({ id, email: optionalEmail, name: optionalName, updated_at: optionalTime });

const customerFacts = (data: unknown): StoreTold => {
  const { id: customerId, email, name, updated_at: version } = customer.parse(data);
  if (email === undefined) return { facts: [] };
  return { facts: [{ kind: 'buyer', about: `customer/${customerId}`, email, ...said({ name, version }) }] };
};

const READERS: Record<string, (data: unknown) => StoreTold> = {
  transaction: transactionFacts,
  adjustment: adjustmentFacts,
  subscription: subscriptionFacts,
  customer: customerFacts,
};

/** Returns what an object says, by what the event's type is about. Throws for one that isn't as documented. */
export const toPaddleFacts = (eventType: string, data: unknown): StoreTold =>
  READERS[eventType.split('.')[0] ?? '']?.(data) ?? { facts: [] };
