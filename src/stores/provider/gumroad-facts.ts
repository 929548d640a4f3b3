import * as z from 'zod';
import type { StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { addMonths } from '../../shared/rules/dates.ts';
import { buyerOf, id, optionalEmail, optionalId, optionalName, said, time } from './parts.ts';

// What a sale says, as Gumroad's API tells it. A membership's charges are sales, too.

const flag = z.boolean().nullish();

const sale = z.object({
  id,
  order_id: optionalId,
  product_id: optionalId,
  product_permalink: optionalId,
  email: optionalEmail,
  purchase_email: optionalEmail,
  giftee_email: optionalEmail,
  full_name: optionalName,
  purchaser_id: optionalId,
  seller_id: optionalId,
  price: z.number().nullish(),
  currency: z.string().max(10).nullish(),
  quantity: z.number().nullish(),
  created_at: time,
  subscription_id: optionalId,
  subscription_duration: z.string().nullish(),
  refunded: flag,
  disputed: flag,
  dispute_won: flag,
  dead: flag,
  ended: flag,
  is_preorder_authorization: flag,
  is_gift_receiver_purchase: flag,
});

/** A charge names no end of its period. */
const MONTHS: Record<string, number> = {
  monthly: 1,
  quarterly: 3,
  biannually: 6,
  yearly: 12,
  every_two_years: 24,
};

const paidOf = (sent: z.output<typeof sale>): StoreFact => {
  const refs = [sent.product_permalink, sent.product_id].filter((ref) => ref !== undefined);
  const months = MONTHS[sent.subscription_duration ?? ''] ?? 1;
  return {
    kind: sent.is_preorder_authorization ? 'ordered' : 'paid',
    about: `sale/${sent.id}`,
    atMs: sent.created_at,
    ...said({ number: sent.order_id }),
    // Of a gift, whoever gets it is the customer.
    ...buyerOf(
      sent.giftee_email ?? sent.purchase_email ?? sent.email,
      sent.giftee_email === undefined ? sent.full_name : undefined,
      undefined,
    ),
    lines: [{ refs, quantity: Math.max(1, sent.quantity ?? 1) }],
    ...said({ amount: sent.price, currency: sent.currency }),
    ...(sent.subscription_id !== undefined && {
      covers: { untilMs: addMonths(sent.created_at, months) },
      takesBackEnd: true as const,
    }),
  };
};

interface Told {
  /** By a ping that is marked as a test. */
  isTestPing?: boolean;
  /** In a list, which has all later charges, too. */
  isListed?: boolean;
  /** When the membership has ended, as a ping says. */
  endedMs?: number | undefined;
}

/** A sale doesn't say when its membership ended, only that it has: in a list, at the earliest after its latest charge. */
const endOf = (sent: z.output<typeof sale>, { isListed, endedMs }: Told) => {
  const atMs = isListed ? sent.created_at : endedMs;
  return said({ atMs, version: atMs });
};

/**
 * Returns the facts of a sale. A ping that is marked as a test may be about a sale that is none, since Gumroad sends the last sale
 * when the seller tries the address: what the sale itself says counts more.
 */
export const toGumroadFacts = (answer: unknown, told: Told = {}): StoreFact[] => {
  const sent = sale.parse(answer);
  // The giver's purchase is the one that was paid.
  if (sent.is_gift_receiver_purchase) return [];
  const about: Thing = `sale/${sent.id}`;
  const owner: Thing[] = sent.subscription_id === undefined ? [] : [`subscription/${sent.subscription_id}`];
  const isOwn = sent.purchaser_id !== undefined && sent.purchaser_id === sent.seller_id;
  const more = { ...(owner.length > 0 && { with: owner }), ...(isOwn && { isTest: true as const }) };
  const facts: StoreFact[] = [
    {
      ...paidOf(sent),
      ...more,
      ...(told.isTestPing && !isOwn ? { isTest: true as const, version: 0 } : { version: 1 }),
    },
  ];
  if (sent.refunded) facts.push({ kind: 'refunded', about, of: about, ...more, amount: null });
  if (sent.disputed)
    facts.push({ kind: 'disputed', about, of: about, ...more, state: sent.dispute_won ? 'won' : 'open' });
  const [subscription] = owner;
  if (subscription !== undefined && (sent.dead || sent.ended))
    facts.push({
      kind: 'ended',
      about: subscription,
      ...endOf(sent, told),
      ...(isOwn && { isTest: true as const }),
    });
  return facts;
};
