import { createHash } from 'node:crypto';
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { DAY_MS, HOUR_MS, isoDate } from '../../src/shared/rules/dates.ts';
import { claimsOf } from '../support/activations.ts';
import { call, type Json, ORIGIN, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { statistics } from '../support/gate.ts';

const FINGERPRINT = 'machine-0001';
const NONCE = 'nonce-0123456789';

/** A license with limited seats, and a function that makes an application's call for it. */
const open = async (terms: Json = {}, fields: Json = {}) => {
  const customer = await signUp();
  await customer.asKey('PUT', '/api/v1/products/orrery', { terms: { max_activations: 1, ...terms } });
  const { body: license } = await customer.asSession(
    'POST',
    '/api/v1/licenses/create?allow_unknown_product=true',
    { product: 'orrery', ...fields },
  );
  const send = (name: string, sent: Json = {}) =>
    customer.asKey('POST', `/api/v1/licenses/${name}`, {
      license_key: license.license_key,
      fingerprint: FINGERPRINT,
      ...sent,
    });
  const read = (token: string) => claimsOf(customer, token);
  return { customer, license, send, read };
};

const hashOf = (text: string, bytes = 32) =>
  createHash('sha256').update(text).digest().subarray(0, bytes).toString('base64url');

describe('the token of an answer', () => {
  test('says what the answer says, about the license key as stored', async () => {
    const nowMs = Date.UTC(2026, 10, 22, 12);
    useFakeClock(nowMs);
    const { license, send, read } = await open(
      { lease_seconds: 3_600, entitlements: { export: true } },
      { expires_at: '2027-01-31', updates_until: '2026-12-31' },
    );
    const typed = license.license_key.toLowerCase().replaceAll('-', ' ');
    const { body } = await send('activate', { license_key: typed, nonce: NONCE });
    expect(body).toMatchObject({ valid: true, code: 'valid', license_id: license.id });
    const { iss: _iss, aud: _aud, jti, ...claims } = await read(body.token);
    expect(claims).toEqual({
      sub: license.id,
      iat: nowMs / 1_000,
      exp: Date.parse(body.activation.lease_until) / 1_000,
      kind: 'online',
      valid: true,
      code: 'valid',
      status: 'active',
      nonce: NONCE,
      act: body.activation.id,
      fp: hashOf(FINGERPRINT),
      lk: hashOf(license.license_key, 16),
      product: 'orrery',
      ent: { export: true },
      license_ends: '2027-01-31',
      updates_until: '2026-12-31',
      lease_until: claims.exp,
    });
    expect(claims.exp - claims.iat).toBe(3_600);
    const again = await read((await send('verify')).body.token);
    expect(again).toMatchObject({ act: body.activation.id, nonce: null });
    expect(again.jti).not.toBe(jti);
  });

  test('comes with a heartbeat, but not with verify_due or a deactivation', async () => {
    useFakeClock();
    const { send, read } = await open();
    await send('activate');
    const heartbeat = (await send('heartbeat', { nonce: NONCE })).body;
    expect(await read(heartbeat.token)).toMatchObject({ valid: true, code: 'valid', nonce: NONCE });
    vi.advanceTimersByTime(DAY_MS + HOUR_MS);
    expect((await send('heartbeat')).body).toMatchObject({ valid: false, code: 'verify_due', token: null });
    expect((await send('verify')).body).toMatchObject({ valid: true, token: expect.any(String) });
    expect((await send('deactivate')).body).toMatchObject({ code: 'deactivated', token: null });
  });

  test('ends with the license’s last day and, for a negative verdict, after 10 minutes', async () => {
    useFakeClock();
    const lastDay = isoDate(Date.now());
    const { send, read } = await open({}, { expires_at: lastDay });
    const yes = await read((await send('activate')).body.token);
    expect(yes.exp).toBe((Date.parse(lastDay) + DAY_MS) / 1_000);
    const unknown = (await send('verify', { license_key: 'UNKNOWN-KEY', nonce: NONCE })).body;
    const no = await read(unknown.token);
    expect(no).toMatchObject({ valid: false, code: 'not_found', act: null, nonce: NONCE });
    // Libraries refuse a `sub` that is no string.
    expect(no).not.toHaveProperty('sub');
    expect(no.lk).toBe(hashOf('UNKNOWN-KEY', 16));
    expect(no.exp - no.iat).toBe(600);
  });

  test.for([
    ['ASCII', 'p'.repeat(200), 'p'.repeat(200)],
    ['another script', '日'.repeat(200), '日'.repeat(66)],
    ['characters that JSON escapes', '"🔑'.repeat(66), `${'"🔑'.repeat(33)}"`],
  ])(
    'has at most 1.5 KiB with the longest nonce, fingerprint and product in %s',
    async ([, product, cut]) => {
      const fields = { product, expires_at: '2099-12-31', updates_until: '2099-12-31' };
      const { send, read } = await open({}, { ...fields, terms: { max_activations: 1 } });
      const sent = { fingerprint: 'f'.repeat(256), nonce: '"'.repeat(128), product };
      const { body } = await send('activate', sent);
      expect(body.code).toBe('valid');
      expect(body.token.length).toBeLessThanOrEqual(1_536);
      expect((await read(body.token)).product).toBe(cut);
    },
  );
});

test.for([
  ['fingerprint', 'short'],
  ['fingerprint', 'f'.repeat(257)],
  ['fingerprint', 'with a space'],
  ['nonce', 'short'],
  ['nonce', 'n'.repeat(129)],
  ['lease_seconds', 59],
  ['lease_seconds', 60.5],
  ['lease_seconds', '3600'],
  ['release_date', '2026-02-30'],
  ['name', 'n'.repeat(101)],
  ['platform', 'p'.repeat(61)],
  ['app_version', 'v'.repeat(61)],
] as const)('rejects an invalid %s and names it: %s', async ([field, value]) => {
  const { send } = await open();
  const { status, body } = await send('activate', { [field]: value });
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(body.error.details.map(({ path }: Json) => path)).toEqual([field]);
});

test('fields that are null or unknown count as absent', async () => {
  const customer = await signUp();
  const { license_key } = await customer.createLicense();
  const names = ['fingerprint', 'product', 'name', 'platform', 'app_version', 'release_date', 'nonce'];
  const nulls = Object.fromEntries([...names, 'lease_seconds', 'replace'].map((name) => [name, null]));
  const path = '/api/v1/licenses/verify';
  const { body } = await customer.asKey('POST', path, { license_key, ...nulls, color: 'blue' });
  const five = ['api_limit', 'api_usage', 'expires_at', 'status', 'valid'];
  expect(Object.keys(body).toSorted()).toEqual(five);
});

test('answers with tokens are not stored, and key sets are cached for five minutes', async () => {
  const { customer, license, send } = await open();
  for (const name of ['activate', 'verify', 'heartbeat', 'deactivate'])
    expect((await send(name)).headers.get('cache-control')).toBe('no-store');
  const file = await customer.asKey('POST', `/api/v1/licenses/${license.id}/token`, {
    fingerprint: FINGERPRINT,
  });
  expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const keys = await call('GET', `/api/v1/jwks/acct_${'0'.repeat(20)}`);
  expect([keys.status, keys.body.keys.length]).toEqual([200, 1]);
  expect(keys.headers.get('cache-control')).toBe('public, max-age=300');
  expect(keys.headers.get('access-control-allow-origin')).toBe('*');
  const malformed = await call('GET', '/api/v1/jwks/acct_short');
  expect([malformed.status, malformed.headers.get('cache-control')]).toEqual([404, 'no-store']);
});

test('without SIGNING_KEYS a plain verify works, and a call with a token answers 503 and changes nothing', async () => {
  const { customer, license, send } = await open();
  const plain = await customer.createLicense();
  const without = async (path: string, sent: Json) => {
    const request = new Request(ORIGIN + path, {
      method: sent ? 'POST' : 'GET',
      headers: { 'x-api-key': customer.apiKey, 'content-type': 'application/json' },
      body: sent && JSON.stringify(sent),
    });
    const bindings = { ...env, SIGNING_KEYS: '' };
    const { status } = await worker.fetch(request, bindings, createExecutionContext());
    return status;
  };
  const named = { license_key: license.license_key, fingerprint: FINGERPRINT };
  expect(await without('/api/v1/licenses/verify', { license_key: plain.license_key })).toBe(200);
  for (const name of ['verify', 'activate', 'heartbeat'])
    expect(await without(`/api/v1/licenses/${name}`, named)).toBe(503);
  expect(await without('/api/v1/licenses/verify', { license_key: license.license_key })).toBe(503);
  expect(await without(`/api/v1/licenses/${license.id}/token`, { fingerprint: FINGERPRINT })).toBe(503);
  expect(await without(`/api/v1/jwks/${customer.accountId}`, null)).toBe(503);
  expect((await statistics(customer.accountId)).apiUsage).toBe(1);
  expect(await without('/api/v1/licenses/deactivate', named)).toBe(200);
  expect((await send('verify')).body).toMatchObject({ code: 'not_activated', seats: { used: 0 } });
});
