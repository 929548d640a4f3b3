import { expect, test, vi } from 'vitest';
import { userTokens } from '../../src/db/schema.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { call, outcomeOf, signUp } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { mailsTo } from '../support/mails.ts';
import { addSession, asVisitor, login, verifyAddress, withToken } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';

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
  for (const session of [eve.token, eve.other])
    expect(outcomeOf(await withToken(session))).toBe('401 invalid_session');
  expect(outcomeOf(await login(eve.email, eve.password))).toBe('401 invalid_credentials');
  expect(outcomeOf(await login(eve.email, NEW_PASSWORD))).toBe('200 ok');
  await vi.waitUntil(() =>
    mailsTo(eve.email).some(({ subject }) => subject === 'The account of your email address is yours'),
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

test('a reset token that was used or isn’t the account’s ends nothing', async () => {
  const eve = await squat();
  expect(outcomeOf(await asVisitor('/api/reset-password', { token: 'lkt_x', password: NEW_PASSWORD }))).toBe(
    '400 invalid_token',
  );
  expect((await eve.asKey('GET', '/api/v1/licenses')).status).toBe(200);
});
