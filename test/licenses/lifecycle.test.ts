import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { atTime, useFakeClock } from '../support/fake-clock.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

beforeEach(() => {
  useFakeClock(NOON);
});

describe('license state transitions', () => {
  let ada: Customer;

  beforeAll(async () => {
    ada = await atTime(NOON, signUp);
  });

  type State = 'active' | 'expired' | 'suspended' | 'revoked';

  /** Creates a license that is in `state` at noon of March 10, 2027. */
  const licenseIn = async (state: State) => {
    vi.setSystemTime(NOON - 5 * 86_400_000);
    const license = await ada.createLicense(state === 'expired' ? { expires_at: '2027-03-09' } : {});
    const path = `/api/v1/licenses/${license.id}`;
    if (state === 'suspended') await ada.asSession('POST', `${path}/suspend`);
    if (state === 'revoked') await ada.asSession('POST', `${path}/revoke`);
    vi.setSystemTime(NOON);
    expect((await ada.asSession('GET', path)).body.status).toBe(state);
    return { license, path };
  };

  const verdictOf = async (licenseKey: string) => {
    // Each test starts at the same time, so the API key's rate limit needs time to recover.
    vi.advanceTimersByTime(60_000);
    const { status, valid } = (await ada.verify(licenseKey)).body;
    return { status, valid };
  };

  const body = (action: string) => (action === 'renew' ? { duration_days: 30 } : undefined);

  test.for([
    ['suspend', 'active', 'suspended'],
    ['suspend', 'expired', 'suspended'],
    ['reinstate', 'suspended', 'active'],
    ['revoke', 'active', 'revoked'],
    ['revoke', 'expired', 'revoked'],
    ['revoke', 'suspended', 'revoked'],
    ['renew', 'active', 'active'],
    ['renew', 'expired', 'active'],
    ['renew', 'suspended', 'suspended'],
  ] as const)(
    '%s moves a license from %s to %s, and the next verify shows it',
    async ([action, from, to]) => {
      const { license, path } = await licenseIn(from);
      const answer = await ada.asSession('POST', `${path}/${action}`, body(action));
      expect([answer.status, answer.body.status]).toEqual([200, to]);
      expect(await verdictOf(license.license_key)).toEqual({ status: to, valid: to === 'active' });
      expect((await ada.asSession('GET', path)).body).toEqual(answer.body);
    },
  );

  test.for([
    ['suspend', 'suspended'],
    ['suspend', 'revoked'],
    ['reinstate', 'active'],
    ['reinstate', 'expired'],
    ['reinstate', 'revoked'],
    ['revoke', 'revoked'],
    ['renew', 'revoked'],
  ] as const)('%s answers 409 for a license that is %s', async ([action, state]) => {
    const { license, path } = await licenseIn(state);
    const answer = await ada.asSession('POST', `${path}/${action}`, body(action));
    expect([answer.status, answer.body.error.code]).toEqual([409, 'invalid_transition']);
    expect(await verdictOf(license.license_key)).toEqual({ status: state, valid: state === 'active' });
    expect((await ada.asSession('GET', path)).body.status).toBe(state);
  });
});

test('reinstating a license that expired during its suspension answers expired', async () => {
  const { ada, license } = await sellerWithLicense({ expires_at: '2027-03-11' });
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`);
  vi.setSystemTime('2027-03-12T00:00:00.000Z');
  expect((await ada.verify(license.license_key)).body.status).toBe('suspended');
  const reinstated = await ada.asSession('POST', `/api/v1/licenses/${license.id}/reinstate`);
  expect([reinstated.status, reinstated.body.status]).toEqual([200, 'expired']);
  expect((await ada.verify(license.license_key)).body.status).toBe('expired');
});

describe('renewing a license', () => {
  let ada: Customer;

  beforeAll(async () => {
    ada = await atTime(NOON, signUp);
  });

  const renew = async (license: Json, body?: object) => {
    const path = `/api/v1/licenses/${license.id}/renew`;
    const answer = await ada.asSession('POST', path, body);
    return answer.status === 200
      ? answer.body.expires_at
      : `${answer.status} ${answer.body.error.details?.[0].path}`;
  };

  test('adds days to the last day, or to today once the license has expired', async () => {
    const license = await ada.createLicense({ expires_at: '2027-03-20' });
    expect(await renew(license, { duration_days: 5 })).toBe('2027-03-25');
    expect(await renew(license, { duration_days: 5 })).toBe('2027-03-30');
    vi.setSystemTime('2027-04-01T12:00:00.000Z');
    expect((await ada.verify(license.license_key)).body.status).toBe('expired');
    expect(await renew(license, { duration_days: 5 })).toBe('2027-04-06');
    expect((await ada.verify(license.license_key)).body).toMatchObject({
      valid: true,
      expires_at: '2027-04-06',
    });
  });

  test('sets any date from today on, or removes the expiry', async () => {
    const license = await ada.createLicense({ expires_at: '2027-03-20' });
    expect(await renew(license, { expires_at: '2027-03-10' })).toBe('2027-03-10');
    expect(await renew(license, { expires_at: null })).toBeNull();
    expect(await renew(license, { duration_days: 1 })).toBe('2027-03-11');
  });

  test.for([
    { name: 'a past date', path: 'expires_at', body: { expires_at: '2027-03-09' } },
    { name: 'an empty body', path: 'expires_at', body: {} },
    { name: 'no body', path: 'expires_at', body: undefined },
    {
      name: 'both a date and a duration',
      path: 'duration_days',
      body: { expires_at: '2027-06-01', duration_days: 1 },
    },
    { name: 'a duration of 0 days', path: 'duration_days', body: { duration_days: 0 } },
    { name: 'an unknown field', path: 'days', body: { days: 5 } },
  ])('rejects $name and names the field $path', async ({ path, body }) => {
    const license = await ada.createLicense();
    expect(await renew(license, body)).toBe(`400 ${path}`);
  });

  test('ends in the year 9999 at the latest', async () => {
    const license = await ada.createLicense({ expires_at: '9999-12-30' });
    expect(await renew(license, { duration_days: 1 })).toBe('9999-12-31');
    expect(await renew(license, { duration_days: 1 })).toBe('400 duration_days');
    expect((await ada.verify(license.license_key)).body).toMatchObject({
      valid: true,
      expires_at: '9999-12-31',
    });
  });

  test('three times in parallel adds the days three times', async () => {
    const license = await ada.createLicense({ expires_at: '2027-06-01' });
    await Promise.all([1, 2, 3].map(() => renew(license, { duration_days: 10 })));
    const { body } = await ada.asSession('GET', `/api/v1/licenses/${license.id}`);
    expect(body.expires_at).toBe('2027-07-01');
  });
});

test('a license suspended and revoked in parallel ends up revoked', async () => {
  const ada = await signUp();
  for (let i = 0; i < 5; i++) {
    const license = await ada.createLicense();
    const path = `/api/v1/licenses/${license.id}`;
    const answers = await Promise.all(
      ['suspend', 'revoke', 'suspend', 'reinstate'].map((action) =>
        ada.asSession('POST', `${path}/${action}`),
      ),
    );
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(answers[1]?.status).toBe(200);
    expect((await ada.verify(license.license_key)).body.status).toBe('revoked');
  }
});

describe('PATCH /api/v1/licenses/{id}', () => {
  let ada: Customer;

  beforeAll(async () => {
    ada = await atTime(NOON, signUp);
  });

  const patch = (license: Json, body: object) =>
    ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, body);

  test('changes and clears the customer, product, expiry and metadata', async () => {
    const license = await ada.createLicense({ product: 'Orrery', metadata: { seats: 1, trial: true } });
    vi.advanceTimersByTime(1_000);
    const changes = {
      customer_email: 'bob@example.com',
      customer_name: 'Bob',
      product: 'Astrolabe',
      expires_at: '2027-12-31',
      metadata: { seats: 2, trial: false },
    };
    const path = `/api/v1/licenses/${license.id}`;
    const patched = await ada.asKey('PATCH', path, { ...changes, customer_email: 'Bob@Example.com' });
    expect([patched.status, patched.body]).toEqual([
      200,
      { ...license, ...changes, updated_at: '2027-03-10T12:00:01.000Z' },
    ]);
    expect((await ada.asKey('GET', path)).body).toEqual(patched.body);
    expect((await ada.verify(license.license_key)).body).toMatchObject({
      expires_at: '2027-12-31',
      api_usage: 1,
    });
    const cleared = { customer_name: null, product: null, expires_at: null, metadata: {} };
    const noEntries = { seats: null, trial: null };
    expect((await patch(license, { ...cleared, metadata: noEntries })).body).toMatchObject({
      ...cleared,
      customer_email: 'bob@example.com',
    });
  });

  test.for([
    { license_key: 'ANOTHER-KEY' },
    { status: 'revoked' },
    { customer_email: null },
    { metadata: null },
    { expires_at: '2027-03-09' },
    { duration_days: 5 },
    { created_at: '2020-01-01T00:00:00.000Z' },
  ])('rejects %j', async (body) => {
    const license = await ada.createLicense();
    expect((await patch(license, body)).body.error.code).toBe('invalid_request');
  });

  test('on a revoked license still corrects the customer but not the expiry', async () => {
    const license = await ada.createLicense();
    await ada.asSession('POST', `/api/v1/licenses/${license.id}/revoke`);
    expect((await patch(license, { expires_at: '2099-01-01' })).body.error.code).toBe('invalid_transition');
    const corrected = await patch(license, { customer_name: 'Robert' });
    expect([corrected.body.status, corrected.body.customer_name]).toEqual(['revoked', 'Robert']);
  });
});
