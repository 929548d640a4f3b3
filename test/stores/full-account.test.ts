import { beforeEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { sha256 } from '../../src/shared/crypto/hash.ts';
import { outcomeOf, type Json } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { countedBytes, setCountedBytes } from '../support/storage.ts';
import { notify, openShop, paid, type Shop } from './shop.ts';

// What a store sends while its account stores as much as it may. The seller knows the store's secret, so its store may send anything.

/** As after a downgrade. */
const FULL = 500_000_000;
const UNAVAILABLE = '503 unavailable';

let shop: Shop;

beforeEach(async () => {
  shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
});

const setFull = () => setCountedBytes(shop.ada.accountId, FULL);
const send = async (body: object) => outcomeOf(await notify(shop.storeId, JSON.stringify(body)));
/** Sends a body that can't be read, of about so many bytes. */
const sendNoise = (length: number) =>
  send({ type: 'paid', order: '1', noise: crypto.randomUUID().padEnd(length - 50, 'x') });
const messages = async () => {
  const all = 'SELECT type, body, problem FROM store_messages WHERE store_id = ? ORDER BY rowid';
  return (await accountsD1.prepare(all).bind(shop.storeId).all<Json>()).results;
};

test('what a store signs fills the storage of its account, and little more', async () => {
  await setCountedBytes(shop.ada.accountId, 10_000_000 - 50_000);
  expect(await sendNoise(1_000_000)).toBe('200 ok');
  const full = (await countedBytes(shop.ada.accountId)) ?? 0;
  expect(full).toBeGreaterThan(11_000_000);
  for (let i = 0; i < 5; i++) expect(await sendNoise(1_000_000)).toBe(UNAVAILABLE);
  expect(await countedBytes(shop.ada.accountId)).toBe(full);
  for (let i = 0; i < 5; i++) expect(await sendNoise(60_000)).toBe('200 ok');
  expect(await countedBytes(shop.ada.accountId)).toBeLessThan(full + 5 * 1_000);
  const kept = await messages();
  expect(kept.map(({ body }) => body === null)).toEqual([false, ...Array<boolean>(5).fill(true)]);
  expect(kept[5]?.problem).toBe('offer is required.');
});

test('the words of a notification are kept as far as people read them', async () => {
  await shop.notify({ type: 'x'.repeat(100_000) });
  expect((await messages()).map(({ type }) => type)).toEqual(['x'.repeat(500)]);
});

test('a purchase of an account that is full is taken without its body, and gives its license once there is room', async () => {
  await setFull();
  for (let copies = 0; copies < 2; copies++) expect(await send(paid('1'))).toBe('200 ok');
  expect(await messages()).toMatchObject([{ type: 'paid', body: null }]);
  const [purchase, ...others] = await shop.purchases();
  expect([purchase, others]).toMatchObject([{ status: 'failed', reason: 'storage_limit_reached' }, []]);
  await setCountedBytes(shop.ada.accountId, 0);
  const retried = await shop.ada.asSession('POST', `/api/purchases/${purchase?.['id']}/retry`);
  expect(retried.body.status).toBe('fulfilled');
  expect(await shop.licenses()).toHaveLength(1);
});

test('an account that is full takes 1,000 notifications a day, and all copies', async () => {
  await setFull();
  expect(await send(paid('1'))).toBe('200 ok');
  const set = 'UPDATE throttles SET attempts = 999 WHERE bucket = ?';
  await firstD1
    .prepare(set)
    .bind(sha256(`stores-when-full\n${shop.ada.accountId}`))
    .run();
  expect([await send(paid('2')), await send(paid('3'))]).toEqual(['200 ok', UNAVAILABLE]);
  const refused = await notify(shop.storeId, paid('4'));
  expect(outcomeOf(refused)).toBe(UNAVAILABLE);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
  expect(await send(paid('1'))).toBe('200 ok');
  expect(await shop.purchases()).toHaveLength(2);
  await setCountedBytes(shop.ada.accountId, 0);
  expect(await send(paid('3'))).toBe('200 ok');
});

test('a purchase whose reading fails while nothing keeps its body is taken when the store sends it again', async () => {
  await setFull();
  const announce = vi.spyOn(AccountGate.prototype, 'announce').mockRejectedValue(new Error('cut off'));
  expect(await send(paid('1'))).toBe(UNAVAILABLE);
  announce.mockRestore();
  expect(await shop.purchases()).toEqual([]);
  expect(await send(paid('1'))).toBe('200 ok');
  expect(await shop.purchases()).toMatchObject([{ status: 'failed' }]);
  expect(await messages()).toHaveLength(1);
});
