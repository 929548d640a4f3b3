import { expect } from 'vitest';
import { call, outcomeOf } from '../support/client.ts';
import { event, transaction } from './bodies/paddle.ts';
import { openShop, SECRET } from './shop.ts';
import { sign } from './signing.ts';

const PRICE = 'pri_01gsz8x8sawmvhz1pv30nge1ke';

/** A seller with a store of Paddle's, which gets events as Paddle sends them. Each sale is to the same customer of Paddle's. */
export const openPaddle = async () => {
  const shop = await openShop({ provider: 'paddle', secret: SECRET });
  await shop.offer(PRICE, { grant: 'perpetual' });
  const send = async (type: string, data: object) => {
    const body = JSON.stringify(event(type, data));
    const headers = sign('paddle', SECRET, body);
    expect(outcomeOf(await call('POST', `/hooks/${shop.storeId}`, { body, headers }))).toBe('200 ok');
  };
  const sell = (id: string) =>
    send('transaction.completed', transaction({ id, createdAt: '2027-01-10T12:00:00Z', invoiceNumber: id }));
  return { ...shop, send, sell };
};
