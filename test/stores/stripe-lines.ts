import { event, invoice } from './bodies/stripe.ts';

const seconds = (day: string) => Date.parse(`${day}T12:00:00Z`) / 1_000;

/** A line of an invoice of Stripe's. */
export interface Line {
  price: string;
  amount: number;
  from: string;
  to: string;
  product?: string;
  /** What was left of it is given back. */
  isCredit?: boolean;
  /** What is left of the period is billed, and not a period of its own. */
  isProration?: boolean;
  /** The item of the subscription that it is of. */
  item?: string;
}

/** The notification of a paid invoice with these lines. */
export const paid = (id: string, day: string, reason: string, lines: Line[]) => {
  const sent = invoice({ id, createdAt: `${day}T12:00:00Z`, endsAt: `${day}T12:00:00Z`, reason });
  const [whole] = sent.lines.data;
  const data = lines.map(
    (
      {
        price,
        product = price.replace('price', 'prod'),
        amount,
        from,
        to,
        isCredit = false,
        isProration,
        item,
      },
      i,
    ) => ({
      ...whole!,
      id: `il_${id}_${i}`,
      amount,
      period: { start: seconds(from), end: seconds(to) },
      pricing: { type: 'price_details', price_details: { price, product } },
      parent: {
        subscription_item_details: {
          subscription_item: item,
          proration: isCredit || isProration === true,
          proration_details: {
            credited_items: isCredit ? { invoice: 'in_1', invoice_line_items: ['il_1'] } : null,
          },
        },
      },
    }),
  );
  const amount_paid = Math.max(
    0,
    data.reduce((sum, { amount }) => sum + amount, 0),
  );
  return { body: event('invoice.paid', { ...sent, amount_paid, lines: { ...sent.lines, data } }) };
};
