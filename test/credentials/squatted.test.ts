import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { revealApiKey } from '../../src/api-keys/reveal.ts';
import { rotateApiKey } from '../../src/api-keys/rotate.ts';
import { getAccount } from '../../src/db/account.ts';
import type { Ctx } from '../../src/db/ctx.ts';
import { apiKeys, userTokens } from '../../src/db/schema.ts';
import { endMade } from '../../src/erasure/squatted.ts';
import { once } from '../../src/gate/worker/commit.ts';
import { createStore, revealStore } from '../../src/stores/stores.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { createEndpoint } from '../../src/webhooks/endpoints.ts';
import { notify, openShop, paid, SECRET } from '../stores/shop.ts';
import { call, type Customer, outcomeOf, signUp } from '../support/client.ts';
import { accountsD1, ctxOf, publicCtx } from '../support/databases.ts';
import { withoutTables } from '../support/gate.ts';
import { mailsTo } from '../support/mails.ts';
import { addSession, asVisitor, login, verifyAddress, withToken } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

const NEW_PASSWORD = 'a new horse battery';

/** Resets the password as whoever reads the emails of the account's address. */
const reset = async ({ accountId, email }: { accountId: string; email: string }) => {
  const { token, row } = newUserToken(publicCtx, accountId, 'reset_password', email);
  await publicCtx.firstDb.insert(userTokens).values(row);
  return asVisitor('/api/reset-password', { token, password: NEW_PASSWORD });
};

/** What somebody makes with an address that they have never proved. */
const squat = async () => {
  const eve = await enableTwoFactor(await signUp());
  const verifyKey: string = (await eve.asSession('POST', '/api/create-api-key', { scope: 'verify' })).body
    .api_key;
  const url = 'https://attacker.example.net/hook';
  expect((await eve.asSession('POST', '/api/webhooks', { url })).status).toBe(201);
  const settings = { muted_emails: ['billing'], allowed_origins: ['https://attacker.example.net'] };
  expect((await eve.asSession('PATCH', '/api/account', settings)).status).toBe(200);
  return { ...eve, verifyKey, other: await addSession(eve.accountId) };
};

test('a reset by the owner of an address that was never proved ends what was made before, and signs in', async () => {
  const eve = await squat();
  const answer = await reset(eve);
  expect(outcomeOf(answer)).toBe('200 ok');
  const { token } = answer.body.session;
  expect(answer.body.account).toMatchObject({ id: eve.accountId, email_verified: true });
  const license = (await withToken(token, 'POST', '/api/v1/licenses/create', {})).body;
  expect(outcomeOf(await eve.asKey('GET', '/api/v1/licenses'))).toBe('403 api_key_invalid');
  expect(outcomeOf(await eve.verify(license.license_key, eve.verifyKey))).toBe('403 api_key_invalid');
  expect((await withToken(token, 'GET', '/api/webhooks')).body.data).toEqual([]);
  expect((await withToken(token, 'GET', '/api/api-keys')).body.data).toEqual([]);
  expect((await withToken(token)).body.muted_emails).toEqual([]);
  expect(await getAccount(ctxOf(eve.accountId))).toMatchObject({ allowedOrigins: [] });
  for (const session of [eve.token, eve.other])
    expect(outcomeOf(await withToken(session))).toBe('401 invalid_session');
  expect(outcomeOf(await login(eve.email, eve.password))).toBe('401 invalid_credentials');
  expect(outcomeOf(await login(eve.email, NEW_PASSWORD))).toBe('200 ok');
  await waitUntil(() =>
    mailsTo(eve.email).some(({ subject }) => subject === 'The account with your email address is yours'),
  );
  const log = (await withToken(token, 'GET', '/api/audit-log')).body.data;
  const actions = log.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(expect.arrayContaining(['password.reset', 'api_key.delete', 'webhook.delete']));
});

test('a reset of an account whose address was proved keeps its keys, its webhooks, and its two-factor', async () => {
  const ada = await squat();
  await verifyAddress(ada.accountId);
  expect(outcomeOf(await reset(ada))).toBe('401 two_factor_required');
  expect((await ada.asKey('GET', '/api/v1/licenses')).status).toBe(200);
  expect(
    (await call('GET', '/api/webhooks', { headers: { 'x-api-key': ada.apiKey } })).body.data,
  ).toHaveLength(1);
});

/** The account as requests have it that were let in before the reset, by a session or by an API key. */
const lateCallers = async ({ accountId, apiKeyId, asSession }: Customer): Promise<Ctx[]> => {
  const [session] = (await asSession('GET', '/api/sessions')).body.data;
  return [
    { ...ctxOf(accountId), actor: { kind: 'session', id: session.id } },
    { ...ctxOf(accountId), actor: { kind: 'api_key', id: apiKeyId } },
  ];
};

const KEY = { name: 'late', scope: 'full' } as const;
const SHOP = { provider: 'stripe', name: 'late', secret: 'whsec_bGF0ZSBsYXRlIGxhdGU=' } as const;
const HOOK = { url: 'https://attacker.example.net/late' };

test('a request that was let in before the reset makes nothing that lasts after it', async () => {
  const eve = await signUp();
  const callers = await lateCallers(eve);
  const { token } = (await reset(eve)).body.session;
  const errors = ['invalid_session', 'api_key_invalid'];
  const { body: kept } = await withToken(token, 'POST', '/api/create-api-key', KEY);
  for (const [i, ctx] of callers.entries()) {
    await expect(createApiKey(ctx, KEY)).rejects.toMatchObject({ code: errors[i] });
    await expect(rotateApiKey(ctx, kept.id, { overlap_hours: 1 })).rejects.toMatchObject({ code: errors[i] });
    await expect(createEndpoint(ctx, HOOK, 'latchkey.test')).rejects.toMatchObject({ code: errors[i] });
  }
  expect((await withToken(token, 'GET', '/api/api-keys')).body.data).toMatchObject([{ id: kept.id }]);
  expect((await withToken(token, 'GET', '/api/webhooks')).body.data).toEqual([]);
});

test('a request with an Idempotency-Key that was let in before the reset is not answered with a secret', async () => {
  const eve = await signUp();
  const callers = await lateCallers(eve);
  const { token } = (await reset(eve)).body.session;
  const { body: kept } = await withToken(token, 'POST', '/api/create-api-key', KEY);
  for (const [i, ctx] of callers.entries()) {
    const ended = { code: ['invalid_session', 'api_key_invalid'][i] };
    const keyed = (key: string): Ctx => {
      const claim = {
        key: `${ctx.actor.kind} ${key}`,
        requestHash: key,
        atMs: Date.now(),
        onRepeat: () => {},
      };
      return { ...ctx, idempotency: claim };
    };
    const [create, rotate, sell] = [keyed('create'), keyed('rotate'), keyed('sell')];
    const revealKey = (id: string) => revealApiKey(ctx, id);
    await expect(once(create, () => createApiKey(create, KEY), revealKey)).rejects.toMatchObject(ended);
    const rotated = once(rotate, () => rotateApiKey(rotate, kept.id, { overlap_hours: 1 }), revealKey);
    await expect(rotated).rejects.toMatchObject(ended);
    const made = once(
      sell,
      () => createStore(sell, SHOP),
      (id) => revealStore(ctx, id),
    );
    await expect(made).rejects.toMatchObject(ended);
  }
  expect((await withToken(token, 'GET', '/api/api-keys')).body.data).toMatchObject([{ id: kept.id }]);
  expect((await withToken(token, 'GET', '/api/stores')).body.data).toEqual([]);
});

test('a late request that is cut off leaves no webhook that sends anything', async () => {
  const eve = await signUp();
  const [ctx] = await lateCallers(eve);
  if (!ctx) throw new Error('There is no caller.');
  const { token } = (await reset(eve)).body.session;
  await withoutTables(['sessions'], () => createEndpoint(ctx, HOOK, 'latchkey.test').catch(() => {}));
  const { data } = (await withToken(token, 'GET', '/api/webhooks')).body;
  expect(data).toMatchObject([{ url: HOOK.url, status: 'disabled' }]);
});

test('a reset token that was used or isn’t the account’s ends nothing', async () => {
  const eve = await squat();
  expect(outcomeOf(await asVisitor('/api/reset-password', { token: 'lkt_x', password: NEW_PASSWORD }))).toBe(
    '400 invalid_token',
  );
  expect((await eve.asKey('GET', '/api/v1/licenses')).status).toBe(200);
});

test('stores that were made or changed since the account was taken no longer take purchases', async () => {
  const [kept, changed, { ada: eve }] = await Promise.all([openShop(), openShop(), openShop()]);
  const secret = `whsec_${btoa('the secret of somebody else')}`;
  const made = await openShop({}, eve);
  // Whoever has the first two has had them for long.
  await accountsD1.prepare('UPDATE stores SET created_at = 1, updated_at = 1').run();
  for (const [shop, fields] of [
    [changed, { secret }],
    [made, {}],
  ] as const)
    await shop.ada.asSession('PATCH', `/api/stores/${shop.storeId}`, { name: 'Shop', ...fields });
  for (const { ada } of [kept, changed]) await endMade(ctxOf(ada.accountId), Date.now() - 60_000);
  await endMade(ctxOf(eve.accountId), 0);
  const sent = async (shop: typeof kept, order: string, by = SECRET) =>
    outcomeOf(await notify(shop.storeId, paid(order), by));
  expect(await sent(kept, '1')).toBe('200 ok');
  expect(await sent(changed, '2', secret)).toBe('401 invalid_signature');
  expect(await sent(changed, '3')).toBe('401 invalid_signature');
  expect(await sent(made, '4')).toBe('404 not_found');
  expect((await eve.asSession('GET', '/api/stores')).body.data).toEqual([]);
  const again = { secret: SECRET };
  expect((await changed.ada.asSession('PATCH', `/api/stores/${changed.storeId}`, again)).status).toBe(200);
  expect(await sent(changed, '5')).toBe('200 ok');
});

test('a key that is rotated while the account’s keys end is ended, too', async () => {
  const eve = await signUp();
  const { license_key } = await eve.createLicense();
  const ctx = ctxOf(eve.accountId);
  let rotated = '';
  // The keys are listed by then, and not yet deleted, which may take a while.
  const batch: typeof ctx.db.batch = async (statements) => {
    if (rotated === '') {
      const { body } = await eve.asKey('POST', `/api/api-keys/${eve.apiKeyId}/rotate`, {});
      rotated = body.api_key;
      await ctx.db
        .update(apiKeys)
        .set({ createdAt: Date.now() + 5_000 })
        .where(eq(apiKeys.id, body.id));
    }
    return ctx.db.batch(statements);
  };
  await endMade({ ...ctx, db: Object.create(ctx.db, { batch: { value: batch } }) }, 0);
  for (const apiKey of [eve.apiKey, rotated])
    expect(outcomeOf(await eve.verify(license_key, apiKey))).toBe('403 api_key_invalid');
});
