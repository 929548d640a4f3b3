import { expect, test } from 'vitest';
import { claimsOf } from '../support/activations.ts';
import { type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const FINGERPRINT = 'machine-0001';
const at = (day: string, time = '12:00:00.000') => Date.parse(`${day}T${time}Z`);
const midnightAfter = (day: string) => (at(day, '00:00:00.000') + 86_400_000) / 1_000;

/** A license that ends on November 24 and has days of grace, and a function that makes its application's calls. */
const open = async (terms: Json, licenseTerms: Json = {}) => {
  useFakeClock(at('2026-11-22'));
  const customer = await signUp();
  await customer.asKey('PUT', '/api/v1/products/orrery', { terms });
  const fields = { product: 'orrery', expires_at: '2026-11-24', terms: licenseTerms };
  const { id, license_key } = await customer.createLicense(fields);
  const send = async (name: string, sent: Json = { fingerprint: FINGERPRINT }) => {
    const { body } = await customer.asKey('POST', `/api/v1/licenses/${name}`, { license_key, ...sent });
    return body;
  };
  return { customer, id, send };
};

test('a license stays active in its days of grace, and every full answer says until when', async () => {
  const { customer, send } = await open({ grace_days: 3 });
  const during = { valid: true, status: 'active', expires_at: '2026-11-24', grace_until: '2026-11-27' };
  for (const day of ['2026-11-24', '2026-11-25', '2026-11-27']) {
    useFakeClock(at(day, '23:59:59.999'));
    expect(await send('verify', {})).toMatchObject(during);
    const answer = await send('activate');
    expect(answer).toMatchObject({ ...during, code: 'valid' });
    expect(await claimsOf(customer, answer.token)).toMatchObject({
      exp: midnightAfter('2026-11-27'),
      license_ends: '2026-11-24',
      grace_until: '2026-11-27',
    });
  }
  useFakeClock(at('2026-11-28', '00:00:00.000'));
  const after = { valid: false, status: 'expired', code: 'expired', grace_until: '2026-11-27' };
  expect(await send('verify')).toMatchObject(after);
  expect(await send('heartbeat')).toMatchObject({ valid: false });
  expect(await send('deactivate')).toMatchObject({ code: 'deactivated', grace_until: null });
});

test('a license’s own days of grace override its product’s, and without any a token says nothing of them', async () => {
  const { customer, send } = await open({ grace_days: 3 }, { grace_days: 0 });
  const answer = await send('activate');
  expect(answer).toMatchObject({ valid: true, grace_until: null });
  const claims = await claimsOf(customer, answer.token);
  expect(claims).toMatchObject({ exp: midnightAfter('2026-11-24') });
  expect(claims).not.toHaveProperty('grace_until');
  useFakeClock(at('2026-11-25'));
  expect(await send('verify')).toMatchObject({ valid: false, code: 'expired' });
});

test('an offline file reaches to the end of the grace, and can be issued within it', async () => {
  const { customer, id } = await open({ grace_days: 3, max_activations: 1 });
  useFakeClock(at('2026-11-25'));
  const sent = { fingerprint: FINGERPRINT, days: 30 };
  const issued = await customer.asKey('POST', `/api/v1/licenses/${id}/token`, sent);
  expect(issued.body).toMatchObject({ expires_at: '2026-11-28T00:00:00.000Z' });
  useFakeClock(at('2026-11-28'));
  expect(await customer.asKey('POST', `/api/v1/licenses/${id}/token`, sent)).toMatchObject({ status: 409 });
});

test('lists and the dashboard go by the last paid day, also in the days of grace', async () => {
  const { customer, id, send } = await open({ grace_days: 3 });
  useFakeClock(at('2026-11-25'));
  expect(await send('verify')).toMatchObject({ valid: true, status: 'active' });
  const get = async (path: string) => (await customer.asKey('GET', path)).body;
  const expired = { id, status: 'expired', expires_at: '2026-11-24' };
  expect(await get(`/api/v1/licenses/${id}`)).toMatchObject(expired);
  expect(await get('/api/v1/licenses?status=expired')).toMatchObject({ data: [expired] });
  expect(await get('/api/v1/licenses?status=active')).toMatchObject({ data: [] });
  expect(await get('/api/dashboard')).toMatchObject({ licenses: { active: 0, expired: 1 } });
});

test.for([-1, 61, 1.5, '3'])('grace_days is a whole number from 0 to 60: %j', async (grace_days) => {
  const customer = await signUp();
  const product = await customer.asKey('PUT', '/api/v1/products/orrery', { terms: { grace_days } });
  expect(product).toMatchObject({ status: 400 });
  expect(await customer.asKey('POST', '/api/v1/licenses/create', { terms: { grace_days } })).toMatchObject({
    status: 400,
  });
});

test('grace that would pass the year 9999 ends with it', async () => {
  const { customer } = await open({ grace_days: 60 });
  const { license_key } = await customer.createLicense({ product: 'orrery', expires_at: '9999-12-15' });
  const { body } = await customer.asKey('POST', '/api/v1/licenses/verify', { license_key });
  expect(body).toMatchObject({ valid: true, grace_until: '9999-12-31' });
});
