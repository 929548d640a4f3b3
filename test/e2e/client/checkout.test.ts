import { createHmac } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAccount, type Customer } from '../support/customer.ts';
import { newProxy, service } from './support/application.ts';
import { copyExample, startExample } from './support/examples.ts';
import { loseResponse } from './support/proxy.ts';

// The example of a receiver, with notifications that are signed as the stores sign them.

const SECRETS = { STRIPE_SECRET: 'whsec_stripe', LEMON_SQUEEZY_SECRET: 'lemon-squeezy' };

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

let seller: Customer;
beforeAll(async () => {
  seller = await createAccount(service, 'checkout');
  await seller.putProduct('orrery', { terms: { max_activations: 2 } });
});

/** Each has an API key of its own, so that no test waits for the rate of another's. */
const startReceiver = async (origin = service.origin) => {
  const { api_key: apiKey } = await seller.addKey();
  const folder = await copyExample('checkout');
  await writeFile(
    join(folder, 'offers.json'),
    JSON.stringify({ plink_1: 'orrery', '42': 'orrery', plink_2: null, '43': null }),
  );
  const env = { ...SECRETS, LATCHKEY_URL: origin, LATCHKEY_API_KEY: apiKey, PORT: '0' };
  const url = await startExample(folder, ['server.js'], env);
  const post = async (path: string, body: string, headers: Record<string, string>) =>
    (await fetch(url + path, { method: 'POST', body, headers })).status;

  const stripe = (event: object, { secret = SECRETS.STRIPE_SECRET, ageSeconds = 0 } = {}) => {
    const body = JSON.stringify(event);
    const time = Math.floor(Date.now() / 1_000) - ageSeconds;
    // While a secret is rotated, there are several signatures.
    const signature = `t=${time},v1=${'0'.repeat(64)},v1=${hmac(secret, `${time}.${body}`)}`;
    return post('/stripe', body, { 'stripe-signature': signature });
  };
  const lemonSqueezy = (event: object, secret = SECRETS.LEMON_SQUEEZY_SECRET) => {
    const body = JSON.stringify(event);
    return post('/lemonsqueezy', body, { 'x-signature': hmac(secret, body) });
  };
  return {
    post,
    stripe,
    lemonSqueezy,
    /** The license keys that were mailed, and to whom. */
    mails: async () => {
      const text = await readFile(join(folder, 'outbox.txt'), 'utf8').catch(() => '');
      return [...text.matchAll(/^To: (.*)\n.*: (\S+)$/gm)].map(([, to, key]) => [to, key]);
    },
  };
};

const session = (payment: string, changes: object = {}, type = 'checkout.session.completed') => ({
  id: `evt_${payment}`,
  type,
  data: {
    object: {
      id: `cs_${payment}`,
      mode: 'payment',
      payment_status: 'paid',
      payment_intent: payment,
      payment_link: 'plink_1',
      customer_details: { email: `${payment}@example.com`, name: 'Grace' },
      ...changes,
    },
  },
});

const charge = (payment: string, refunded: boolean, metadata = {}) => ({
  type: 'charge.refunded',
  data: {
    object: {
      id: `ch_${payment}`,
      payment_intent: payment,
      refunded,
      metadata,
    },
  },
});

const order = (id: string, event = 'order_created', status = 'paid', variant = 42) => ({
  meta: { event_name: event },
  data: {
    type: 'orders',
    id,
    attributes: {
      status,
      user_email: `order-${id}@example.com`,
      user_name: 'Ada',
      first_order_item: { variant_id: variant },
    },
  },
});

interface License {
  license_key: string;
  status: string;
  product: string;
  customer_email: string;
  metadata: Record<string, unknown>;
}

const licensesOf = async (purchase: string): Promise<License[]> => {
  const headers = { authorization: `Bearer ${seller.token}` };
  const licenses: License[] = [];
  const query = new URLSearchParams({ q: purchase, 'metadata.order': purchase });
  for (;;) {
    const { body } = await service.get(`/api/v1/licenses?${query.toString()}`, headers);
    const { data, next_cursor: cursor } = body as { data: License[]; next_cursor: string | null };
    licenses.push(...data);
    if (cursor === null) return licenses;
    query.set('cursor', cursor);
  }
};

/** Imports so many licenses, which are newer than those that were sold before, and have a text in their keys. */
const addNewer = async (count: number, text: string) => {
  const lines = Array.from({ length: count }, (_, i) => `{"license_key":"${text}-${10_000 + i}"}\n`);
  const response = await fetch(`${service.origin}/api/v1/licenses/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${seller.token}`, 'content-type': 'application/x-ndjson' },
    body: lines.join(''),
  });
  expect(await response.text()).toContain(`"created":${count}`);
};

describe('the receiver', () => {
  test('makes one license of a purchase at Stripe, however often it is told, and mails its key', async () => {
    const { stripe, mails } = await startReceiver();
    const sale = session('pi_1');
    expect(await stripe(sale)).toBe(200);
    expect(await Promise.all([1, 2, 3].map(() => stripe(sale)))).toEqual([200, 200, 200]);
    expect(await stripe(session('pi_1', {}, 'checkout.session.async_payment_succeeded'))).toBe(200);
    const licenses = await licensesOf('pi_1');
    expect(licenses).toMatchObject([
      { product: 'orrery', customer_email: 'pi_1@example.com', status: 'active', metadata: { mailed: true } },
    ]);
    expect(await mails()).toEqual([['pi_1@example.com', licenses[0]?.license_key]]);
  });

  test('makes one license of notifications that arrive at the same time', async () => {
    const { stripe, lemonSqueezy, mails } = await startReceiver();
    const calls = [1, 2].flatMap(() => [stripe(session('pi_2')), lemonSqueezy(order('1002'))]);
    expect(await Promise.all(calls)).toEqual([200, 200, 200, 200]);
    const found = [...(await licensesOf('pi_2')), ...(await licensesOf('ls_1002'))];
    expect(found.map(({ customer_email: email }) => email)).toEqual([
      'pi_2@example.com',
      'order-1002@example.com',
    ]);
    const told = (await mails()).map((mail) => mail.join(' '));
    expect(new Set(told).size).toBe(2);
  });

  test('makes no second license if the answer to the create gets lost', async () => {
    const proxy = await newProxy();
    const { lemonSqueezy, mails } = await startReceiver(proxy.origin);
    let lost = 0;
    proxy.behavior = (call) => {
      if (call.path !== 'licenses/create' || lost > 0) return call.forward();
      lost += 1;
      return loseResponse(call);
    };
    expect(await lemonSqueezy(order('1003'))).toBe(503);
    expect(await lemonSqueezy(order('1003'))).toBe(200);
    expect(lost).toBe(1);
    expect(await licensesOf('ls_1003')).toHaveLength(1);
    expect(await mails()).toHaveLength(1);
  });

  test('refuses what is not signed by the store, and makes nothing of it', async () => {
    const { post, stripe, lemonSqueezy, mails } = await startReceiver();
    const sale = session('pi_4');
    const body = JSON.stringify(sale);
    const now = Math.floor(Date.now() / 1_000);
    expect(await stripe(sale, { secret: 'whsec_other' })).toBe(401);
    expect(await stripe(sale, { secret: SECRETS.LEMON_SQUEEZY_SECRET })).toBe(401);
    expect(await stripe(sale, { ageSeconds: 301 })).toBe(401);
    expect(await post('/stripe', body, {})).toBe(401);
    expect(await post('/stripe', body, { 'stripe-signature': `t=${now},v1=zz` })).toBe(401);
    expect(await lemonSqueezy(order('1004'), 'other')).toBe(401);
    expect(await post('/lemonsqueezy', JSON.stringify(order('1004')), {})).toBe(401);
    expect(await post('/elsewhere', body, {})).toBe(404);
    expect([await licensesOf('pi_4'), await licensesOf('ls_1004'), await mails()]).toEqual([[], [], []]);
  });

  test('revokes the license of a purchase that is refunded in full, and of no other', async () => {
    const { stripe, lemonSqueezy } = await startReceiver();
    expect([
      await stripe(session('pi_5')),
      await stripe(session('pi_6')),
      await lemonSqueezy(order('1005')),
    ]).toEqual([200, 200, 200]);
    const refunds = [charge('pi_5', true), charge('pi_5', true), charge('pi_6', false)];
    for (const refund of refunds) expect(await stripe(refund)).toBe(200);
    expect(await lemonSqueezy(order('1005', 'order_refunded', 'refunded'))).toBe(200);
    const states = [];
    for (const id of ['pi_5', 'pi_6', 'ls_1005']) states.push((await licensesOf(id))[0]?.status);
    expect(states).toEqual(['revoked', 'active', 'revoked']);
  });

  test('finds the license of a purchase, however many others were sold since', async () => {
    const proxy = await newProxy();
    const { stripe, mails } = await startReceiver(proxy.origin);
    const sale = session('pi_12');
    // With a coupon for all of it, there is no payment.
    const free = session('pi_13', { id: `cs_live_${'a1'.repeat(29)}`, payment_intent: null });
    expect([await stripe(sale), await stripe(free)]).toEqual([200, 200]);
    // The index finds one of the orders at once, and the other one only after a page of others.
    await addNewer(1_300, 'pi_12');
    proxy.paths.length = 0;
    expect([await stripe(sale), await stripe(free)]).toEqual([200, 200]);
    expect(proxy.paths).not.toContain('licenses/create');
    expect(await mails()).toHaveLength(2);
    expect(await stripe(charge('pi_12', true))).toBe(200);
    expect(await licensesOf('pi_12')).toMatchObject([{ status: 'revoked' }]);
  });

  test('accepts the refund of what gives no license, if it says what that is', async () => {
    const { stripe, lemonSqueezy } = await startReceiver();
    const shirt = (...event: string[]) => lemonSqueezy(order('1010', event[0], event[1], 43));
    expect([await shirt(), await shirt('order_refunded', 'refunded')]).toEqual([200, 200]);
    expect(await stripe(session('pi_10', { payment_link: 'plink_2' }))).toBe(200);
    const isShirt = { offer: 'plink_2' };
    expect(await stripe(charge('pi_10', true))).toBe(503);
    expect(await stripe(charge('pi_10', true, isShirt))).toBe(200);
    // A license that the offer has given before.
    expect(await stripe(session('pi_11'))).toBe(200);
    expect(await stripe(charge('pi_11', true, isShirt))).toBe(200);
    expect(await licensesOf('pi_11')).toMatchObject([{ status: 'revoked' }]);
  });

  test('asks the store to repeat what it can’t carry out, and accepts what is none of its business', async () => {
    const { stripe, lemonSqueezy } = await startReceiver();
    expect(await stripe(session('pi_7', { payment_link: 'plink_unknown' }))).toBe(503);
    expect(await stripe(charge('pi_7', true))).toBe(503);
    expect(await stripe(session('pi_8', { payment_link: 'plink_2' }))).toBe(200);
    expect(await stripe(session('pi_9', { payment_status: 'unpaid' }))).toBe(200);
    expect(await stripe({ type: 'customer.created', data: { object: {} } })).toBe(200);
    expect(await lemonSqueezy(order('1009', 'order_created', 'pending'))).toBe(200);
    for (const id of ['pi_7', 'pi_8', 'pi_9', 'ls_1009']) expect(await licensesOf(id)).toEqual([]);
  });
});
