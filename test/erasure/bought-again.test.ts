import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { workOnStores } from '../../src/stores/work.ts';
import { adjustment, customer } from '../stores/bodies/paddle.ts';
import { openPaddle } from '../stores/paddle-shop.ts';
import { keepMails, mailsTo } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';

// A customer of the store who was erased buys again. The store tells their address apart from what they buy.

type Shop = Awaited<ReturnType<typeof openPaddle>>;

let tellings = 0;

/** Tells the customer's address. What Paddle sends is never quite the same. */
const tell = ({ send }: Shop, email: string, day = '2027-01-10') =>
  send('customer.updated', {
    ...customer({ email }),
    updated_at: `${day}T12:00:00Z`,
    custom_data: { telling: ++tellings },
  });

const erase = async ({ ada }: Shop, customer_email: string) =>
  expect((await ada.asSession('POST', '/api/erase-customer', { customer_email })).status).toBe(200);

/** The addresses of the purchases by their numbers. */
const addresses = async ({ purchases }: Shop): Promise<Record<string, string | null>> =>
  Object.fromEntries(
    (await purchases()).map(({ order, customer_email }): [string, string | null] => [order, customer_email]),
  );

test('an erased customer who buys again gets the new key, and stays erased from what they bought before', async () => {
  keepMails();
  const shop = await openPaddle();
  await verifyAddress(shop.ada.accountId);
  await shop.sell('txn_1');
  await tell(shop, 'lost@example.com');
  await erase(shop, 'lost@example.com');
  await shop.sell('txn_2');
  await tell(shop, 'lost@example.com');
  expect(await addresses(shop)).toEqual({ txn_1: null, txn_2: 'lost@example.com' });
  for (let steps = 0; steps < 4; steps++) await workOnStores(env, shop.ada.accountId);
  expect(mailsTo('lost@example.com')).toHaveLength(1);
  await shop.send(
    'adjustment.created',
    adjustment({ id: 'adj_1', action: 'refund', transaction: 'txn_1', createdAt: '2027-02-01T12:00:00Z' }),
  );
  await tell(shop, 'new@example.com', '2027-03-01');
  await shop.sell('txn_3');
  expect(await addresses(shop)).toMatchObject({ txn_1: null, txn_3: 'new@example.com' });
});

test('an erased customer who has bought again can be erased again', async () => {
  const shop = await openPaddle();
  for (const id of ['txn_1', 'txn_2']) {
    await shop.sell(id);
    await tell(shop, 'lost@example.com');
    expect(await addresses(shop)).toMatchObject({ [id]: 'lost@example.com' });
    await erase(shop, 'lost@example.com');
    await tell(shop, 'lost@example.com', '2027-02-01');
    expect(Object.values(await addresses(shop)).filter((address) => address !== null)).toEqual([]);
  }
});

test('a purchase from before an erasure gets no address by what the store tells later, nor by a later purchase', async () => {
  const shop = await openPaddle();
  await tell(shop, 'old@example.com');
  await shop.sell('txn_1');
  await tell(shop, 'lost@example.com', '2027-02-01');
  expect(await addresses(shop)).toEqual({ txn_1: 'old@example.com' });
  // The purchase still has the address of before.
  await erase(shop, 'lost@example.com');
  await shop.send(
    'adjustment.created',
    adjustment({ id: 'adj_1', action: 'refund', transaction: 'txn_1', createdAt: '2027-02-01T12:00:00Z' }),
  );
  await tell(shop, 'lost@example.com', '2027-02-01');
  expect(await addresses(shop)).toEqual({ txn_1: null });
  await shop.sell('txn_2');
  await tell(shop, 'lost@example.com', '2027-02-01');
  expect(await addresses(shop)).toEqual({ txn_1: null, txn_2: 'lost@example.com' });
});
