import { beforeEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { openShop, paid, type Shop } from '../stores/shop.ts';
import { outcomeOf, tallyOf } from '../support/client.ts';
import { setCountedBytes } from '../support/storage.ts';

let shop: Shop;
let id: string;

/** A purchase that no offer is for. */
beforeEach(async () => {
  shop = await openShop();
  await shop.notify(paid('1'));
  [{ id }] = (await shop.purchases()) as [{ id: string }];
});

const send = (call: string, body?: object, key = 'once') =>
  shop.ada.asSession('POST', `/api/purchases/${id}/${call}`, body, { 'idempotency-key': key });
const entries = async (action: string) =>
  (await shop.ada.asSession('GET', `/api/audit-log?action=${action}`)).body.data;

test('with one Idempotency-Key a purchase gets its product once, and each repeat returns it', async () => {
  const assign = () => send('assign', { product: 'mill' });
  const answers = [...(await Promise.all([assign(), assign()])), await assign()];
  for (const { status, body } of answers)
    expect([status, body.status, body.licenses.length]).toEqual([200, 'fulfilled', 1]);
  expect(await shop.licenses()).toHaveLength(1);
  expect(await entries('purchase.assign')).toHaveLength(1);
  expect(outcomeOf(await send('assign', { product: 'other' }))).toBe('409 idempotency_conflict');
  expect(outcomeOf(await send('assign', { product: 'mill' }, 'another'))).toBe('409 invalid_transition');
});

test('of two products that are named at once, the purchase has one', async () => {
  await shop.ada.asSession('PUT', '/api/v1/products/loom', {});
  const assign = (product: string) => send('assign', { product }, product);
  const answers = await Promise.all([assign('mill'), assign('loom')]);
  expect(tallyOf(answers)).toEqual({ '200 ok': 1, '409 invalid_transition': 1 });
  const named = answers.find(({ status }) => status === 200)?.body.licenses[0].product;
  expect(await shop.licenses()).toMatchObject([{ product: named }]);
  expect(await entries('purchase.assign')).toMatchObject([{ details: { product: named } }]);
});

test('with one Idempotency-Key a purchase is tried again once, and its email sent once', async () => {
  await shop.offer('pro', { grant: 'perpetual' });
  const retries = await Promise.all([send('retry'), send('retry')]);
  expect(tallyOf(retries)).toEqual({ '200 ok': 2 });
  expect(await entries('purchase.retry')).toHaveLength(1);
  const resend = () => send('resend-mail', undefined, 'mail');
  const resent = [...(await Promise.all([resend(), resend()])), await resend()];
  expect(tallyOf(resent)).toEqual({ '202 ok': 3 });
  expect(resent[2]?.body.mails).toHaveLength(2);
  expect(await entries('purchase.resend_mail')).toHaveLength(1);
  expect(outcomeOf(await send('retry', undefined, 'mail'))).toBe('409 idempotency_conflict');
});

test('an account that stores as much as it may adds nothing to its purchases', async () => {
  await shop.offer('pro', { grant: 'perpetual' });
  await setCountedBytes(shop.ada.accountId, 1_000_000_000);
  for (const call of ['retry', 'resend-mail'])
    expect(outcomeOf(await send(call))).toBe('403 storage_limit_reached');
  await setCountedBytes(shop.ada.accountId, 0);
  expect(await entries('purchase.retry')).toEqual([]);
  // The refused call hasn't claimed its key.
  expect(outcomeOf(await send('retry'))).toBe('200 ok');
});

/** Makes a call while the gate hears nothing of what it commits. */
const sendUnheard = async (call: string, body?: object) => {
  const cut = (['apply', 'pull'] as const).map((name) =>
    vi.spyOn(AccountGate.prototype, name).mockRejectedValue(new Error('The gate is cut off.')),
  );
  const failed = await send(call, body);
  for (const spy of cut) spy.mockRestore();
  expect(outcomeOf(failed)).toBe('503 unavailable');
};

test('a purchase of which the gate hears nothing keeps its entry, and the repeat returns it', async () => {
  await sendUnheard('assign', { product: 'mill' });
  expect(await entries('purchase.assign')).toHaveLength(1);
  const repeated = await send('assign', { product: 'mill' });
  expect([repeated.status, repeated.body.status]).toEqual([200, 'fulfilled']);
  expect(await entries('purchase.assign')).toHaveLength(1);
});

test.for([
  ['assign', { product: 'mill' }, 'once'],
  ['retry', undefined, 'another'],
] as const)(
  'a purchase’s %s answers once every verify sees its license, also if that was made earlier',
  async ([call, body, key]) => {
    await sendUnheard('assign', { product: 'mill' });
    const answer = await send(call, body, key);
    expect(outcomeOf(answer)).toBe('200 ok');
    expect((await shop.ada.verify(answer.body.licenses[0].license_key)).body.status).toBe('active');
  },
);
