import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { call, outcomeOf } from '../support/client.ts';
import { openShop } from './shop.ts';
import { stripeEvent } from './stripe-bodies.ts';

const STRIPE = 'whsec_stripe';

/** A seller with a store of Stripe's, which gets events as Stripe sends them. */
export const openStripe = async (fields: object = {}) => {
  const shop = await openShop({ provider: 'stripe', secret: STRIPE, ...fields });
  const send = async (type: string, object: object, more: object = {}) => {
    const body = JSON.stringify({ ...stripeEvent(type, object), ...more });
    const t = Math.floor(Date.now() / 1_000);
    const v1 = createHmac('sha256', STRIPE).update(`${t}.${body}`).digest('hex');
    const headers = { 'stripe-signature': `t=${t},v1=${v1}` };
    expect(outcomeOf(await call('POST', `/hooks/${shop.storeId}`, { body, headers }))).toBe('200 ok');
  };
  return { ...shop, send };
};
