import { beforeEach, describe, expect, test } from 'vitest';
import { call, outcomeOf, PASSWORD } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { CUSTOMER, entriesFor, NEW_PASSWORD, newOwner, VARIANTS } from './owner.ts';

beforeEach(() => useFakeClock());

const withKey = async (apiKey: string, method: string, path: string, body?: object, ip = '203.0.113.9') =>
  call(method, path, { body, headers: { 'x-api-key': apiKey, 'cf-connecting-ip': ip } });

describe.for(VARIANTS)('whoever has only an API key of scope full, $name', (variant) => {
  test('does what the seller’s own server may do, and can’t take the account', async () => {
    const ada = await newOwner(variant);
    const { data } = (await ada.asKey('GET', '/api/v1/licenses')).body;
    expect(data).toMatchObject([{ customer_email: CUSTOMER }]);
    expect((await ada.asKey('GET', '/api/export')).status).toBe(200);
    for (const [method, path, body, outcome] of [
      ['POST', '/api/two-factor', undefined, '403 insufficient_scope'],
      ['POST', '/api/reauthenticate', { password: PASSWORD }, '403 insufficient_scope'],
      [
        'POST',
        '/api/change-password',
        { current_password: 'x', password: NEW_PASSWORD },
        '401 invalid_credentials',
      ],
      [
        'POST',
        '/api/change-email',
        { current_password: 'x', email: 'thief@example.com' },
        '401 invalid_credentials',
      ],
      ['DELETE', '/api/account', { current_password: 'x', confirm: ada.email }, '401 invalid_credentials'],
    ] as const)
      expect([path, outcomeOf(await ada.asKey(method, path, body))]).toEqual([path, outcome]);
  });

  test('guesses the password ten times, of which the owner gets an email', async () => {
    const ada = await newOwner(variant);
    const guess = () =>
      ada.asKey('POST', '/api/change-password', { current_password: 'guess', password: NEW_PASSWORD });
    for (let i = 0; i < 10; i++) expect(outcomeOf(await guess())).toBe('401 invalid_credentials');
    expect(outcomeOf(await guess())).toBe('429 rate_limit_exceeded');
    await ada.isTold('Wrong passwords inside your account');
    const actor = { kind: 'api_key', id: ada.apiKeyId };
    expect(await entriesFor(ada.token, 'session.fail')).toMatchObject([{ actor }]);
  });

  test('is out once the owner deletes it, and the keys that it made, which the audit log names', async () => {
    const ada = await newOwner(variant);
    const made = (await ada.asKey('POST', '/api/create-api-key', {})).body;
    const [entry] = await entriesFor(ada.token, 'api_key.create');
    expect(entry).toMatchObject({ target: made.id, actor: { kind: 'api_key', id: ada.apiKeyId } });
    for (const id of [ada.apiKeyId, made.id])
      expect(outcomeOf(await ada.asSession('DELETE', `/api/api-keys/${id}`))).toBe('200 ok');
    for (const apiKey of [ada.apiKey, made.api_key])
      expect(outcomeOf(await withKey(apiKey, 'GET', '/api/v1/licenses'))).toBe('403 api_key_invalid');
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('200 ok');
  });
});

test('whoever has a key with allowed addresses does nothing from elsewhere', async () => {
  const ada = await newOwner({ hasTwoFactor: false });
  const { api_key } = (await ada.asSession('POST', '/api/create-api-key', { allowed_ips: ['192.0.2.1'] }))
    .body;
  expect(outcomeOf(await withKey(api_key, 'GET', '/api/v1/licenses'))).toBe('403 ip_not_allowed');
  expect(outcomeOf(await withKey(api_key, 'GET', '/api/v1/licenses', undefined, '192.0.2.1'))).toBe('200 ok');
});

test('whoever has a key of scope verify makes the four calls of an application, and no other', async () => {
  const ada = await newOwner({ hasTwoFactor: false });
  const { api_key } = (await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' })).body;
  expect(outcomeOf(await withKey(api_key, 'GET', '/api/v1/licenses'))).toBe('403 insufficient_scope');
  expect(outcomeOf(await withKey(api_key, 'POST', '/api/create-api-key', {}))).toBe('403 insufficient_scope');
  const body = { license_key: 'AAAAA-AAAAA' };
  expect((await withKey(api_key, 'POST', '/api/v1/licenses/verify', body)).body.status).toBe('not_found');
});
