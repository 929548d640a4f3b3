import { afterEach, expect, test, vi } from 'vitest';
import { outcomeOf, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { notify, openShop, paid, SECRET } from './shop.ts';

afterEach(() => vi.restoreAllMocks());

const secretNo = (n: number) => `whsec_${btoa(`another secret of the shop, number ${n}`)}`;

const openWith = async () => {
  const shop = await openShop();
  return {
    ...shop,
    setSecret: async (secret: string) =>
      outcomeOf(await shop.ada.asSession('PATCH', `/api/stores/${shop.storeId}`, { secret })),
    send: async (order: string, secret: string) => outcomeOf(await notify(shop.storeId, paid(order), secret)),
  };
};

test('a store’s secret is accepted for 24 hours after its replacement, and a fifth replacement is refused', async () => {
  const { ada, storeId, setSecret, send } = await openWith();
  for (const n of [1, 2, 3, 4]) expect(await setSecret(secretNo(n))).toBe('200 ok');
  const refused = await ada.asSession('PATCH', `/api/stores/${storeId}`, { secret: secretNo(5) });
  expect(outcomeOf(refused)).toBe('403 limit_reached');
  expect(refused.body.error.details).toMatchObject([{ path: 'secret' }]);
  expect(await send('1', SECRET)).toBe('200 ok');
  expect(await send('2', secretNo(4))).toBe('200 ok');
  await accountsD1
    .prepare("UPDATE stores SET earlier_secrets = json_set(earlier_secrets, '$[3].untilMs', 1) WHERE id = ?")
    .bind(storeId)
    .run();
  expect(await send('3', SECRET)).toBe('401 invalid_signature');
  expect(await setSecret(secretNo(5))).toBe('200 ok');
  expect(await send('4', secretNo(1))).toBe('200 ok');
});

test('a store’s present secret, and one that is still accepted, can be given again', async () => {
  const { setSecret, send } = await openWith();
  for (let times = 0; times < 6; times++) expect(await setSecret(SECRET)).toBe('200 ok');
  for (let times = 0; times < 4; times++) {
    expect(await setSecret(secretNo(1))).toBe('200 ok');
    expect(await setSecret(SECRET)).toBe('200 ok');
  }
  expect(await send('1', secretNo(1))).toBe('200 ok');
  expect(await send('2', SECRET)).toBe('200 ok');
});

test('the token of a store is shown where it was made, also to a repeat, and nowhere else', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
    Response.json({ success: true, sales: [], resource_subscriptions: [] }),
  );
  const { ada } = await openShop();
  const twice = async (key: string, method: string, path: string, body: object) => {
    const send = () => ada.asSession(method, path, body, { 'idempotency-key': key });
    const answers = [await send(), await send()];
    return answers.map((answer) => answer.body as { id: string; webhook_url: string });
  };
  const created = await twice('create', 'POST', '/api/stores', {
    provider: 'gumroad',
    name: 'Shop',
    api_key: 'key',
  });
  const path = `/api/stores/${created[0]!.id}`;
  const tokensOf = (answers: { webhook_url: string }[]) =>
    answers.map(({ webhook_url: url }) => new URL(url).pathname.split('/')[3] ?? null);
  const made = tokensOf(created);
  expect(made).toEqual([expect.any(String), made[0]]);
  expect(tokensOf(await twice('name', 'PATCH', path, { name: 'Another name' }))).toEqual([null, null]);
  const rotated = tokensOf(await twice('rotate', 'PATCH', path, { rotate_secret: true }));
  expect(rotated).toEqual([expect.any(String), rotated[0]]);
  expect(rotated[0]).not.toBe(made[0]);
});

test('a store takes the shortest secret that its provider signs with', async () => {
  const ada = await signUp();
  const store = { provider: 'lemonsqueezy', name: 'Shop' };
  const create = async (secret: string) =>
    outcomeOf(await ada.asSession('POST', '/api/stores', { ...store, secret }));
  expect(await create('secret')).toBe('201 ok');
  for (const cut of ['short', 'whsec_']) expect(await create(cut)).toBe('400 invalid_request');
});

test('with one Idempotency-Key a store is made once, also after it was deleted', async () => {
  const ada = await signUp();
  const body = { provider: 'generic', name: 'Shop', secret: SECRET };
  const create = () => ada.asSession('POST', '/api/stores', body, { 'idempotency-key': 'shop' });
  const { body: store } = await create();
  expect((await create()).body).toEqual(store);
  await ada.asSession('DELETE', `/api/stores/${store.id}`);
  expect(outcomeOf(await create())).toBe('409 idempotency_conflict');
});
