import { describe, expect, test } from 'vitest';
import { claimsOf, machineOf, openLicense as open } from '../support/activations.ts';
import { signUp } from '../support/client.ts';
import { readGate } from '../support/gate.ts';

const FIVE = ['api_limit', 'api_usage', 'expires_at', 'status', 'valid'];

describe('a license without terms', () => {
  test('answers a plain verify with exactly five fields, and a call with a fingerprint with all fields', async () => {
    const customer = await signUp();
    const { license_key } = await customer.createLicense({ product: 'orrery' });
    expect(Object.keys((await customer.verify(license_key)).body).toSorted()).toEqual(FIVE);
    const { body } = await customer.asKey('POST', '/api/v1/licenses/verify', {
      license_key,
      fingerprint: machineOf(1),
      nonce: 'nonce-0123456789',
    });
    expect(body).toMatchObject({ valid: true, code: 'valid', seats: null, activation: null, machines: null });
    expect(await claimsOf(customer, body.token)).toMatchObject({
      valid: true,
      nonce: 'nonce-0123456789',
      act: null,
    });
  });
});

describe('a call that counts nothing', () => {
  test('gives no verdict without a seat limit until a call of the machine was counted', async () => {
    const { send, on } = await open({});
    for (const answer of [await send('heartbeat'), await on('heartbeat', 1)])
      expect(answer).toMatchObject({ valid: false, code: 'verify_due', token: null });
    await on('activate', 1);
    expect(await on('heartbeat', 1)).toMatchObject({ valid: true, code: 'valid' });
  });

  test('says nothing of the license where it is deactivate, and the same of an unknown one', async () => {
    const { send } = await open({ max_activations: 1 }, { expires_at: '2099-12-31' });
    const fingerprint = machineOf(1);
    await send('activate', { fingerprint });
    const known = await send('deactivate', { fingerprint });
    const unknown = await send('deactivate', { fingerprint, license_key: 'UNKNOWN-KEY' });
    expect({ ...unknown, server_time: '' }).toEqual({ ...known, server_time: '' });
    expect(known).toMatchObject({ code: 'deactivated', status: null, expires_at: null, product: null });
    expect(known).toMatchObject({ entitlements: null, updates_until: null, license_id: null, seats: null });
  });
});

describe('a license with two seats', () => {
  test('admits two machines, refuses the third, and takes it once a seat is released', async () => {
    const { send, on } = await open({ max_activations: 2 });
    expect(await send('verify')).toMatchObject({
      valid: false,
      code: 'fingerprint_required',
      status: 'active',
    });
    expect(await on('verify', 1)).toMatchObject({ valid: false, code: 'not_activated' });
    const first = await on('activate', 1, { name: 'Ada’s laptop', platform: 'linux' });
    expect(first).toMatchObject({
      valid: true,
      code: 'valid',
      seats: { used: 1, limit: 2 },
      activation: { name: 'Ada’s laptop', platform: 'linux', lease_until: null },
    });
    // What an application could not find out.
    const unnamed = { name: ' ', platform: '', app_version: '', product: '' };
    expect(await on('activate', 2, unnamed)).toMatchObject({
      code: 'valid',
      seats: { used: 2, limit: 2 },
      activation: { name: null, platform: null },
    });
    expect(await on('activate', 3)).toMatchObject({
      valid: false,
      code: 'no_seat',
      retry_at: null,
      machines: null,
    });
    expect(await on('verify', 1)).toMatchObject({ valid: true, activation: { id: first.activation.id } });
    expect(await on('deactivate', 1)).toMatchObject({ valid: false, code: 'deactivated', token: null });
    expect(await on('activate', 3)).toMatchObject({ valid: true, code: 'valid' });
    expect(await on('deactivate', 1)).toMatchObject({ code: 'deactivated' });
  });

  test('counts verify and activate as usage, and heartbeat and deactivate not', async () => {
    const { on } = await open({ max_activations: 2 });
    const { api_usage: before } = await on('verify', 1);
    expect((await on('activate', 1)).api_usage).toBe(before + 1);
    expect((await on('heartbeat', 1)).api_usage).toBe(before + 1);
    expect((await on('deactivate', 1)).api_usage).toBe(before + 1);
    expect((await on('verify', 1)).api_usage).toBe(before + 2);
  });

  test('holds exactly two machines when fifteen activate in parallel', async () => {
    const { on, customer, license } = await open({ max_activations: 2 });
    const answers = await Promise.all(Array.from({ length: 15 }, (_, n) => on('activate', n)));
    expect(answers.filter(({ code }) => code === 'valid')).toHaveLength(2);
    const { body } = await customer.asSession('GET', `/api/v1/licenses/${license.id}/activations`);
    expect(body).toMatchObject({ seats: { used: 2, limit: 2 }, next_cursor: null });
    expect(body.data).toHaveLength(2);
  });

  test('gives one fingerprint one seat when it activates in parallel', async () => {
    const { on } = await open({ max_activations: 2 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => on('activate', 1)));
    expect(new Set(answers.map(({ activation }) => activation.id)).size).toBe(1);
    expect(answers.every(({ seats }) => seats.used === 1)).toBe(true);
  });
});

test('new terms of a product apply to its licenses at once, and a license overrides them field by field', async () => {
  const { customer, license, on } = await open({
    max_activations: 1,
    entitlements: { export: true, tier: 'basic' },
  });
  await on('activate', 1);
  expect(await on('activate', 2)).toMatchObject({ code: 'no_seat' });
  await customer.asKey('PUT', '/api/v1/products/orrery', {
    terms: { max_activations: 2, entitlements: { tier: 'pro' } },
  });
  expect(await on('activate', 2)).toMatchObject({ code: 'valid', entitlements: { tier: 'pro' } });
  const own = { max_activations: 'none', entitlements: { tier: null, seats: 3 } };
  await customer.asKey('PATCH', `/api/v1/licenses/${license.id}`, { terms: own });
  expect(await on('activate', 3)).toMatchObject({ code: 'valid', seats: null, entitlements: { seats: 3 } });
  const { body } = await customer.asKey('PATCH', `/api/v1/licenses/${license.id}`, {
    terms: { max_activations: null },
  });
  expect(body.terms).toEqual({ entitlements: own.entitlements });
  expect(await on('activate', 4)).toMatchObject({ code: 'no_seat', seats: { used: 3, limit: 2 } });
});

test('with self_service, an application without a seat is told the machines, and replaces one', async () => {
  const { on } = await open({ max_activations: 1, self_service: true });
  const { activation } = await on('activate', 1, { name: 'Old laptop' });
  const refused = await on('activate', 2);
  expect(refused).toMatchObject({ code: 'no_seat', machines: [{ id: activation.id, name: 'Old laptop' }] });
  expect(JSON.stringify(refused)).not.toContain(machineOf(1));
  expect(await on('activate', 2, { replace: activation.id })).toMatchObject({
    code: 'valid',
    seats: { used: 1 },
  });
  expect(await on('verify', 1)).toMatchObject({ code: 'not_activated' });
});

test('a suspended license answers a signed no, and keeps its seats', async () => {
  const { customer, license, on } = await open({ max_activations: 1 });
  await on('activate', 1);
  await customer.asKey('POST', `/api/v1/licenses/${license.id}/suspend`);
  const { token, ...answer } = await on('verify', 1);
  expect(answer).toMatchObject({ valid: false, code: 'suspended', seats: { used: 1, limit: 1 } });
  const claims = await claimsOf(customer, token);
  expect(claims).toMatchObject({ valid: false, code: 'suspended', kind: 'online', sub: license.id });
  expect(claims.exp - claims.iat).toBe(600);
});

test.for([
  ['another product', { product: 'planetarium' }, 'wrong_product'],
  ['its product', { product: 'orrery' }, 'valid'],
  ['a release after updates_until', { release_date: '2026-06-02' }, 'updates_ended'],
  ['a release on updates_until', { release_date: '2026-06-01' }, 'valid'],
] as const)('an application of %s gets the right code', async ([, sent, code]) => {
  const { send } = await open({}, { updates_until: '2026-06-01' });
  expect(await send('verify', sent)).toMatchObject({ code, valid: code === 'valid' });
});

describe('an offline file', () => {
  test('takes a seat, holds it until the file ends, and is signed', async () => {
    const { customer, license, on } = await open({ max_activations: 1 });
    const path = `/api/v1/licenses/${license.id}`;
    expect((await customer.asKey('POST', `${path}/token`, {})).body.error.details[0].path).toBe(
      'fingerprint',
    );
    const { status, body } = await customer.asKey('POST', `${path}/token`, {
      fingerprint: machineOf(1),
      days: 30,
    });
    expect(status).toBe(200);
    const claims = await claimsOf(customer, body.token);
    expect(claims).toMatchObject({ kind: 'offline', valid: true, nonce: null, sub: license.id });
    expect(new Date(claims.exp * 1_000).toISOString()).toBe(body.expires_at);
    await on('deactivate', 1);
    expect(await on('activate', 2)).toMatchObject({ code: 'no_seat' });
    expect(
      (await customer.asKey('POST', `${path}/token`, { fingerprint: machineOf(2) })).body.error.code,
    ).toBe('no_seat');
    const [{ id }] = (await customer.asKey('GET', `${path}/activations`)).body.data;
    expect((await customer.asKey('DELETE', `${path}/activations/${id}`)).status).toBe(409);
    expect((await customer.asKey('DELETE', `${path}/activations/${id}?force=true`)).status).toBe(200);
    expect((await customer.asKey('DELETE', `${path}/activations/${id}?force=true`)).status).toBe(404);
    expect(await on('activate', 2)).toMatchObject({ code: 'valid' });
  });
});

test('a replaced key is unknown at once, also as a retry, and the new key has the same seats', async () => {
  const { customer, license, on } = await open({ max_activations: 1 });
  await on('activate', 1);
  const path = `/api/v1/licenses/${license.id}`;
  const { body } = await customer.asKey('POST', `${path}/rotate-key`, {});
  expect(body.license_key).not.toBe(license.license_key);
  expect(await on('verify', 1)).toMatchObject({ code: 'not_found', license_id: null });
  const now = { license_key: body.license_key };
  expect(await on('verify', 1, now)).toMatchObject({ code: 'valid', seats: { used: 1 } });
  expect((await customer.asKey('GET', `/api/v1/licenses?q=${body.license_key}`)).body.data).toHaveLength(1);
  expect((await customer.asKey('GET', `/api/v1/licenses?q=${license.license_key}`)).body.data).toEqual([]);
  expect((await customer.asKey('GET', `${path}/history`)).body.data[0].action).toBe('key_rotated');
});

test('a deleted license is gone with its history and its seats, and its key can be used again', async () => {
  const { customer, license, on } = await open({ max_activations: 1 });
  await on('activate', 1);
  const path = `/api/v1/licenses/${license.id}`;
  await customer.asKey('POST', `${path}/suspend`);
  const deleted = await customer.asKey('DELETE', path);
  expect(deleted).toMatchObject({ status: 200, body: { id: license.id, deleted: true } });
  expect(await on('verify', 1)).toMatchObject({ code: 'not_found' });
  for (const gone of [path, `${path}/history`, `${path}/activations`])
    expect((await customer.asSession('GET', gone)).status).toBe(404);
  expect((await customer.asSession('GET', `/api/v1/licenses?q=${license.license_key}`)).body.data).toEqual(
    [],
  );
  expect((await customer.asSession('GET', '/api/dashboard')).body.licenses).toMatchObject({
    total: 0,
    suspended: 0,
  });
  const rows = await readGate(customer.accountId, 'SELECT 1 FROM activations');
  expect(rows).toEqual([]);
  await customer.createLicense({ license_key: license.license_key, product: 'orrery' });
  expect(await on('activate', 2)).toMatchObject({ code: 'valid', seats: { used: 1 } });
});

test('another account’s activation can’t be released, and its license is unknown to the four calls', async () => {
  const { customer, license, on } = await open({ max_activations: 1 });
  const { activation } = await on('activate', 1);
  const bob = await signUp();
  const own = await bob.createLicense();
  const path = `/api/v1/licenses/${own.id}/activations/${activation.id}`;
  expect((await bob.asKey('DELETE', path)).body.error.code).toBe('activation_not_found');
  for (const name of ['verify', 'activate', 'heartbeat', 'deactivate']) {
    const code = name === 'deactivate' ? 'deactivated' : 'not_found';
    const sent = { license_key: license.license_key, fingerprint: machineOf(1) };
    const { body } = await bob.asKey('POST', `/api/v1/licenses/${name}`, sent);
    expect(body).toMatchObject({ code, license_id: null, activation: null });
  }
  expect((await customer.asKey('GET', `/api/v1/licenses/${license.id}/activations`)).body.data).toHaveLength(
    1,
  );
});
