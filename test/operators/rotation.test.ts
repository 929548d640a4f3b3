import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Webhook } from 'standardwebhooks';
import { beforeAll, expect, test, vi } from 'vitest';
import { users } from '../../src/db/schema.ts';
import worker from '../../src/index.ts';
import { letterTo } from '../../src/mail/letter.ts';
import { tell } from '../../src/mail/tell.ts';
import { emailChanged } from '../../src/mail/templates.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { sealFor } from '../../src/stores/secrets.ts';
import { sealSecret, unsealSecret } from '../../src/two-factor/code.ts';
import { getUser } from '../../src/users/user.ts';
import { openShop, paid } from '../stores/shop.ts';
import { freshAddress, type Json, ORIGIN, signUp } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { furnishAccount, furnishUser } from '../support/furnished.ts';
import { runHourly } from '../support/hourly.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { lastMailTo } from '../support/mails.ts';
import { OPERATOR_TOKEN } from '../support/operator.ts';
import { consume, loseHints, readOutbox } from '../support/outbox.ts';
import { sellerWithLicense, sellerWithWebhook } from '../support/worlds.ts';

type Secrets = Partial<Pick<Env, 'API_KEY_SECRET' | 'SEALING_KEYS' | 'SIGNING_KEYS'>>;

/** Sealing keys. */
const OLD = env.SEALING_KEYS;
const NEW = `k2:${btoa('a-second-sealing-key-of-32-bytes')}`;

/** The service after a deployment with other secrets. */
const serviceWith = (secrets: Secrets) => {
  const environment: Env = { ...env, OPERATOR_TOKEN, SEALING_KEYS: `${OLD},${NEW}`, ...secrets };
  const send = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const ctx = createExecutionContext();
    const request = new Request(ORIGIN + path, {
      method,
      headers: { 'content-type': 'application/json', 'cf-connecting-ip': freshAddress(), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await worker.fetch(request, environment, ctx);
    await waitOnExecutionContext(ctx);
    return { status: response.status, body: (await response.json()) as Json };
  };
  return {
    environment,
    withKey: (apiKey: string, method: string, path: string, body?: unknown) =>
      send(method, path, { 'x-api-key': apiKey }, body),
    withSession: (token: string, method: string, path: string, body?: unknown) =>
      send(method, path, { authorization: `Bearer ${token}` }, body),
    reseal: async (): Promise<Json> => {
      const { status, body } = await send('POST', '/operator/reseal', {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
      });
      expect(status).toBe(200);
      return body;
    },
  };
};

// Other files leave API keys that can't be unsealed.
beforeAll(() => env.DB2.prepare("UPDATE api_keys SET deleted_at = 1, sealed = ''").run());

const resealAll = async (service: ReturnType<typeof serviceWith>) => {
  for (let calls = 0; calls < 10; calls++) {
    const answer = await service.reseal();
    if (answer.left === 0) return answer;
  }
  throw new Error('Something is left after ten calls.');
};

test('while the sealing keys rotate, API keys are revealed and webhooks signed, and after reseal the old key can go', async () => {
  const hints = loseHints();
  const { ada, receiver, endpoint } = await sellerWithWebhook();
  const { body: rotated } = await ada.asSession('POST', `${endpoint.path}/rotate-secret`);
  const secrets = [endpoint.secret, rotated.secret as string];
  const twoFactor = await sealSecret(publicCtx, ada.accountId, 'JBSWY3DPEHPK3PXP');
  await env.DB.prepare('UPDATE users SET two_factor_secret = ? WHERE account_id = ?')
    .bind(twoFactor, ada.accountId)
    .run();
  let webhooks = 0;
  const expectToWork = async (service: ReturnType<typeof serviceWith>) => {
    const revealed = await service.withKey(ada.apiKey, 'GET', `/api/api-keys/${ada.apiKeyId}`);
    expect(revealed.body.api_key).toBe(ada.apiKey);
    expect((await service.withKey(ada.apiKey, 'POST', `${endpoint.path}/test`)).status).toBe(200);
    await consume(endpoint.hint, service.environment);
    webhooks++;
    const posted = (await receiver.receives(webhooks)).at(-1)!;
    for (const secret of secrets) new Webhook(secret).verify(posted.body, posted.headers);
  };

  await expectToWork(serviceWith({ SEALING_KEYS: OLD }));
  const both = serviceWith({ SEALING_KEYS: `${NEW},${OLD}` });
  await expectToWork(both);
  expect(await resealAll(both)).toEqual({ left: 0, old_secret_keys: 0 });
  await expectToWork(both);
  await expectToWork(serviceWith({ SEALING_KEYS: NEW }));
  const [user] = await publicCtx.firstDb.select().from(users).where(eq(users.accountId, ada.accountId));
  const withoutOld = { ...publicCtx, env: { ...env, SEALING_KEYS: NEW } };
  expect(await unsealSecret(withoutOld, user!)).toBe('JBSWY3DPEHPK3PXP');
  const stored = await readOutbox<{ value: string }>(ada.accountId, 'SELECT value FROM endpoints');
  expect(JSON.stringify(stored)).not.toMatch(/k1\./);
  hints.stop();

  // What is sealed with a key that is gone stays left.
  const third = serviceWith({ SEALING_KEYS: `k3:${btoa('another-sealing-key-of-32-bytes!')}` });
  expect((await third.reseal()).left).toBeGreaterThan(0);
  expect((await third.reseal()).left).toBeGreaterThan(0);
});

test('while API_KEY_SECRET rotates, API keys of both entries and sessions work, and reseal counts the old API keys', async () => {
  const [first, second] = [env.API_KEY_SECRET, 'another-secret-for-tests-0123456789abc'];
  const { ada, license } = await sellerWithLicense();
  const verify = async (service: ReturnType<typeof serviceWith>, apiKey: string) => {
    const path = '/api/v1/licenses/verify';
    const { status, body } = await service.withKey(apiKey, 'POST', path, {
      license_key: license.license_key,
    });
    return body.error?.code ?? [status, body.valid];
  };
  const both = serviceWith({ API_KEY_SECRET: `${second}, ${first}` });
  const before = (await resealAll(both)).old_secret_keys;
  expect(before).toBeGreaterThan(0);
  expect(await verify(both, ada.apiKey)).toEqual([200, true]);
  expect((await both.withSession(ada.token, 'GET', '/api/account')).status).toBe(200);
  const rotated = await both.withSession(ada.token, 'POST', `/api/api-keys/${ada.apiKeyId}/rotate`, {});
  const newKey: string = rotated.body.api_key;
  for (const apiKey of [ada.apiKey, newKey]) expect(await verify(both, apiKey)).toEqual([200, true]);
  await both.withSession(ada.token, 'DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect((await both.reseal()).old_secret_keys).toBe(before - 1);

  const withoutOld = serviceWith({ API_KEY_SECRET: second });
  expect(await verify(withoutOld, newKey)).toEqual([200, true]);
  expect(await verify(withoutOld, ada.apiKey)).toBe('api_key_invalid');
  const login = await withoutOld.withSession('', 'POST', '/api/login', {
    email: ada.email,
    password: ada.password,
  });
  const token: string = login.body.session.token;
  expect((await withoutOld.withSession(token, 'GET', '/api/account')).status).toBe(200);
  expect((await withoutOld.withSession(ada.token, 'GET', '/api/account')).status).toBe(401);
});

test('while SIGNING_KEYS rotates, an application that knows the old key comes to accept tokens of the new one', async () => {
  const [first, second] = [env.SIGNING_KEYS, btoa('a-second-signing-key-of-32-bytes')];
  const ada = await signUp();
  await ada.asSession('PUT', '/api/v1/products/orrery', { terms: { offline_days: 3 } });
  const license = await ada.createLicense({ product: 'orrery' });
  const tokenFrom = async (service: ReturnType<typeof serviceWith>): Promise<string> => {
    const sent = { license_key: license.license_key, nonce: 'a-nonce-of-the-test' };
    return (await service.withKey(ada.apiKey, 'POST', '/api/v1/licenses/verify', sent)).body.token;
  };
  const keysFrom = async (service: ReturnType<typeof serviceWith>): Promise<Json> =>
    (await service.withSession('', 'GET', `/api/v1/jwks/${ada.accountId}`)).body;
  const accepts = async (token: string, keys: Json) => {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys }));
    return payload['valid'];
  };

  const pinned = (await keysFrom(serviceWith({}))).keys;
  const oldToken = await tokenFrom(serviceWith({}));
  const both = serviceWith({ SIGNING_KEYS: `${second},${first}` });
  const { keys, chain } = await keysFrom(both);
  const newToken = await tokenFrom(both);
  for (const token of [oldToken, newToken]) expect(await accepts(token, keys)).toBe(true);
  await expect(accepts(newToken, pinned)).rejects.toThrow('no applicable key');

  // The old key vouches for the new one.
  const { payload: trusted } = await jwtVerify(chain[0], createLocalJWKSet({ keys: pinned }));
  const newKey = { kty: 'OKP', kid: trusted['kid'], crv: trusted['crv'], x: trusted['x'] };
  expect(await accepts(newToken, [newKey])).toBe(true);
  expect(await accepts(await tokenFrom(serviceWith({ SIGNING_KEYS: second })), [newKey])).toBe(true);
});

test('the secrets of stores and the bodies that are kept are sealed again', async () => {
  const shop = await openShop();
  await shop.notify(paid('1'));
  await resealAll(serviceWith({ SEALING_KEYS: `${NEW},${OLD}` }));
  const read = (column: string, table: string, key: string) =>
    env.DB2.prepare(`SELECT ${column} AS sealed FROM ${table} WHERE ${key} = ?`)
      .bind(shop.storeId)
      .first<string>('sealed');
  expect(await read('secret', 'stores', 'id')).toMatch(/^k2\./);
  expect(await read('body', 'store_messages', 'store_id')).toMatch(/^k2\./);
});

/** Where the account has something that is sealed. */
const SEALED = [
  'D1: api_keys',
  'D1: store_messages',
  'D1: stores',
  'first D1: held_notices',
  'first D1: users',
  'outbox: endpoints',
];

const HELD_ADDRESS = 'held@example.com';

/** Holds an email with a link of its user, as a process does that dies before it sends it. */
const holdLink = async (accountId: string) => {
  const user = await getUser(publicCtx, accountId);
  const content = emailChanged('x@example.com', `${ORIGIN}/restore-email#token=lkt_way_back`);
  const { statements } = await tell(publicCtx, letterTo({ ...user, email: HELD_ADDRESS }, content));
  for (const statement of statements) await publicCtx.firstDb.batch([statement]);
};

test('after reseal, no table and no object has anything that is sealed with the old key', async () => {
  useFakeClock();
  const ada = await signUp();
  const { accountId, token } = ada;
  await furnishAccount(ada);
  await furnishUser(ada);
  await holdLink(accountId);
  const [store] = (await ada.asSession('GET', '/api/stores')).body.data;
  const setSecret = async (service: ReturnType<typeof serviceWith>, n: number) => {
    const secret = `whsec_${btoa(`another secret of the shop, number ${n}`)}`;
    expect((await service.withSession(token, 'PATCH', `/api/stores/${store.id}`, { secret })).status).toBe(
      200,
    );
  };
  await setSecret(serviceWith({ SEALING_KEYS: OLD }), 1);
  await env.DB2.prepare('UPDATE stores SET api_key = ? WHERE id = ?')
    .bind(await sealFor({ env, accountId }, store.id, 'api_key', 'sk_x'), store.id)
    .run();
  const newest = `k4:${btoa('one-more-sealing-key-of-32-bytes')}`;
  const service = serviceWith({ SEALING_KEYS: `${newest},${NEW},${OLD}` });
  expect(await findLeftovers(accountId, ['k1.'])).toEqual(SEALED);
  await resealAll(service);
  expect(await findLeftovers(accountId, ['k1.'])).toEqual([]);

  // A secret of the old key that one of the new key has replaced.
  await setSecret(serviceWith({ SEALING_KEYS: `${OLD},${newest}` }), 2);
  await setSecret(service, 3);
  await resealAll(service);
  expect(await findLeftovers(accountId, ['k1.'])).toEqual([]);

  vi.setSystemTime(Date.now() + HOUR_MS);
  await runHourly({ ...env, SEALING_KEYS: newest });
  expect((await lastMailTo(HELD_ADDRESS)).text).toContain('#token=lkt_way_back');
});
