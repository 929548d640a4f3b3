import { expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { addWebhook, expectAbsent, captureLogs, callRoute, routes, SERVICE_SECRETS } from './security.ts';

test('log lines name the calling account and API key and contain no secret', async () => {
  const log = captureLogs();
  const { ada, license } = await sellerWithLicense({ license_key: 'VERY-PRIVATE-LICENSE' });
  const { webhook, ids: hook } = await addWebhook(ada);
  const { body: rotated } = await ada.asSession('POST', `/api/webhooks/${webhook.id}/rotate-secret`);
  const ids = { licenses: license.id, 'api-keys': ada.apiKeyId, ...hook };
  const wrongPassword = 'wrong horse battery';
  const credentials = { email: ada.email, password: ada.password };
  const login = await call('POST', '/api/login', { body: credentials });
  await call('POST', '/api/login', { body: { ...credentials, password: wrongPassword } });
  await call('POST', '/api/register', { body: credentials });
  await call('POST', '/api/register', { body: `{"password":"${ada.password}",` });
  await call('GET', `/api/account?token=${ada.token}&key=${ada.apiKey}`);
  await call('GET', `/${ada.apiKey}`, { headers: { cookie: `__Host-session=${ada.token}` } });
  await ada.verify(license.license_key);
  await ada.asSession('GET', `/api/v1/licenses?q=${license.license_key}`);
  await ada.asSession('GET', '/api/v1/licenses?machine=Private%20Laptop');
  const revealed = await ada.asSession('GET', `/api/api-keys/${ada.apiKeyId}`);
  expect(revealed.body.api_key).toBe(ada.apiKey);
  for (const route of routes) {
    await callRoute(route, { 'x-api-key': `${ada.apiKey}!` }, ids);
    await callRoute(route, { authorization: `Bearer ${login.body.session.token}` }, {});
  }
  const keyed = await ada.asKey('GET', '/api/account');
  const text = log.stop();

  expectAbsent(text, [
    ...SERVICE_SECRETS,
    ada.apiKey,
    ada.apiKey.slice(8),
    ada.token,
    login.body.session.token,
    ada.password,
    wrongPassword,
    license.license_key,
    'Private Laptop',
    'Private%20Laptop',
    webhook.secret,
    rotated.secret,
  ]);
  expect(log.lines.length).toBeGreaterThan(2 * routes.length);
  const entries = log.lines.map((line) => JSON.parse(line));
  expect(entries.find(({ request_id }) => request_id === keyed.headers.get('x-request-id'))).toMatchObject({
    level: 'info',
    method: 'GET',
    route: '/api/account',
    status: 200,
    account_id: ada.accountId,
    key_id: ada.apiKeyId,
    duration_ms: expect.any(Number),
  });
  const verified = entries.find(({ route, status }) => route === '/api/v1/licenses/verify' && status === 200);
  expect(verified).toMatchObject({ account_id: ada.accountId, key_id: ada.apiKeyId });
});
