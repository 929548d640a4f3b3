import * as z from 'zod';
import { id, optionalEmail, optionalId, optionalName } from './parts.ts';

// The objects of FastSpring. Accounts, orders, subscriptions, and products inside of one are ids, or objects if the seller has
// enabled the expansion.

const moment = z.number().nullish();

export const contact = z.object({ first: optionalName, last: optionalName, email: optionalEmail });
export const account = z.object({ id, contact: contact.nullish() });
export const accountRef = z.union([id, account]).nullish();
const product = z.union([id, z.object({ product: id }).transform((object) => object.product)]);

export const subscription = z.object({
  id,
  state: z.string().nullish(),
  live: z.boolean().nullish(),
  changed: moment,
  product: product.nullish(),
  quantity: z.number().nullish(),
  account: accountRef,
  begin: moment,
  next: moment,
  end: moment,
  intervalUnit: z.string().nullish(),
  intervalLength: z.number().nullish(),
  initialOrderId: optionalId,
});

export const order = z.object({
  id,
  reference: optionalId,
  completed: z.boolean().nullish(),
  live: z.boolean().nullish(),
  changed: z.number(),
  currency: z.string().max(10).nullish(),
  total: z.number().nullish(),
  account: accountRef,
  customer: contact.nullish(),
  items: z
    .array(
      z.object({
        product,
        quantity: z.number().nullish(),
        subscription: z.union([id, subscription]).nullish(),
      }),
    )
    .max(200),
});

export const charge = z.object({
  order: z.union([id, z.object({ id, reference: optionalId })]),
  subscription: z.union([id, subscription]),
  account: accountRef,
  currency: z.string().max(10).nullish(),
  total: z.number().nullish(),
  status: z.string().nullish(),
  timestamp: z.number(),
});

export const returned = z.object({
  return: id,
  changed: moment,
  totalReturn: z.number(),
  original: z.object({ order: id, total: z.number().nullish() }),
});

export const springEvent = z.object({
  type: z.string().max(100),
  live: z.boolean().nullish(),
  created: z.number(),
  data: z.unknown().optional(),
});
