import { createHmac, timingSafeEqual } from 'node:crypto';

// What a store's notification says, or null if its signature is wrong: `kind` is `sale`, `refund`, or `other`. A sale has an
// `order`, `offer`, `email`, and `name`, a refund an `order` and, where the store says it, an `offer`. The signature is over the
// bytes of the body, as they arrive.

const isSigned = (secret, parts, signatures) => {
  // Anybody could sign with an empty secret.
  if (!secret) throw new Error('The secret of this store is missing.');
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  const expected = hmac.digest();
  return signatures
    .map((hex) => Buffer.from(hex, 'hex'))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
};

const TOLERANCE_SECONDS = 300;
/** The search finds values of up to 64 characters. The id of a session, which is the order if nothing was paid, has more. */
const MAX_ORDER_LENGTH = 64;
const STRIPE_SALES = ['checkout.session.completed', 'checkout.session.async_payment_succeeded'];

/**
 * One-time payments. A subscription's renewals are `invoice.paid`, which this example doesn't handle.
 * @returns {any}
 */
export const readStripe = (body, headers, secret, nowMs = Date.now()) => {
  const fields = (headers['stripe-signature'] ?? '').split(',').map((field) => field.trim().split('='));
  const valuesOf = (name) => fields.filter(([key]) => key === name).map(([, value = '']) => value);
  const [time = ''] = valuesOf('t');
  const isRecent = Math.abs(nowMs / 1_000 - Number(time)) <= TOLERANCE_SECONDS;
  if (!isRecent || !isSigned(secret, [`${time}.`, body], valuesOf('v1'))) return null;
  const { type, data } = JSON.parse(body);
  const object = data?.object ?? {};
  // A session can be completed before its money has arrived. Then the other event follows.
  if (STRIPE_SALES.includes(type) && object.payment_status !== 'unpaid' && object.mode === 'payment')
    return {
      kind: 'sale',
      order: object.payment_intent ?? object.id.slice(0, MAX_ORDER_LENGTH),
      offer: object.payment_link,
      email: object.customer_details?.email,
      name: object.customer_details?.name,
    };
  // `refunded` is true once all of it was given back. A charge names no payment link, but has the metadata of its payment.
  if (type === 'charge.refunded' && object.refunded)
    return { kind: 'refund', order: object.payment_intent, offer: object.metadata?.offer };
  return { kind: 'other' };
};

/** @returns {any} */
export const readLemonSqueezy = (body, headers, secret) => {
  if (!isSigned(secret, [body], [headers['x-signature'] ?? ''])) return null;
  const { meta, data } = JSON.parse(body);
  const { status, user_email: email, user_name: name, first_order_item: item } = data?.attributes ?? {};
  const order = `ls_${data?.id}`;
  const offer = String(item?.variant_id);
  if (meta?.event_name === 'order_created' && status === 'paid')
    return { kind: 'sale', order, offer, email, name };
  // A partial refund leaves the order's status as it was.
  if (meta?.event_name === 'order_refunded' && status === 'refunded') return { kind: 'refund', order, offer };
  return { kind: 'other' };
};
