import { expect, test, vi } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const STATES = ['active', 'expired', 'suspended', 'revoked'] as const;
const NOON = Date.parse('2027-03-10T12:00:00.000Z');

/** A license in a given state, on 10 March 2027. */
const licenseIn = async (ada: Customer, state: (typeof STATES)[number]) => {
  vi.setSystemTime(NOON - 5 * 86_400_000);
  const license = await ada.createLicense(state === 'expired' ? { expires_at: '2027-03-09' } : {});
  const path = `/api/v1/licenses/${license.id}`;
  if (state === 'suspended') await ada.asSession('POST', `${path}/suspend`);
  if (state === 'revoked') await ada.asSession('POST', `${path}/revoke`);
  vi.setSystemTime(NOON);
  expect((await ada.asSession('GET', path)).body.status).toBe(state);
  return { license, path };
};

test('a license moves along its table of states and no other way, and every verify sees it at once', async () => {
  useFakeClock(NOON);
  const table: Record<string, Record<(typeof STATES)[number], string>> = {
    suspend: { active: 'suspended', expired: 'suspended', suspended: '409', revoked: '409' },
    reinstate: { active: '409', expired: '409', suspended: 'active', revoked: '409' },
    revoke: { active: 'revoked', expired: 'revoked', suspended: 'revoked', revoked: '409' },
    renew: { active: 'active', expired: 'active', suspended: 'suspended', revoked: '409' },
  };
  const ada = await signUp();
  for (const [verb, outcomes] of Object.entries(table)) {
    for (const state of STATES) {
      const { license, path } = await licenseIn(ada, state);
      const sent = verb === 'renew' ? { duration_days: 30 } : undefined;
      const { status, body } = await ada.asSession('POST', `${path}/${verb}`, sent);
      const outcome = status === 200 ? body.status : String(status);
      expect([verb, state, outcome]).toEqual([verb, state, outcomes[state]]);
      expect(body.error?.code).toBe(status === 409 ? 'invalid_transition' : undefined);
      const now = outcome === '409' ? state : outcome;
      vi.advanceTimersByTime(1_000);
      const { body: verdict } = await ada.verify(license.license_key);
      expect([verdict.status, verdict.valid]).toEqual([now, now === 'active']);
      const shown = (await ada.asSession('GET', path)).body;
      expect(shown).toEqual(status === 200 ? body : { ...shown, status: state });
    }
  }
});

test('a suspended license that runs out meanwhile is expired once it is reinstated', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const license = await ada.createLicense({ expires_at: '2027-03-11' });
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`);
  vi.setSystemTime('2027-03-12T00:00:00.000Z');
  expect((await ada.verify(license.license_key)).body.status).toBe('suspended');
  const reinstated = await ada.asSession('POST', `/api/v1/licenses/${license.id}/reinstate`);
  expect([reinstated.status, reinstated.body.status]).toEqual([200, 'expired']);
  expect((await ada.verify(license.license_key)).body.status).toBe('expired');
});

test('a renewal counts from the last day if that is to come, else from today', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const renew = async (license: Json, sent?: object) => {
    const path = `/api/v1/licenses/${license.id}/renew`;
    const { status, body } = await ada.asSession('POST', path, sent);
    return status === 200 ? body.expires_at : `${status} ${body.error.details?.[0].path}`;
  };
  const dated = await ada.createLicense({ expires_at: '2027-03-20' });
  expect(await renew(dated, { duration_days: 5 })).toBe('2027-03-25');
  expect(await renew(dated, { duration_days: 5 })).toBe('2027-03-30');
  vi.setSystemTime('2027-04-01T12:00:00.000Z');
  expect((await ada.verify(dated.license_key)).body.status).toBe('expired');
  expect(await renew(dated, { duration_days: 5 })).toBe('2027-04-06');
  expect((await ada.verify(dated.license_key)).body).toMatchObject({ valid: true, expires_at: '2027-04-06' });
  expect(await renew(dated, { expires_at: '2027-04-01' })).toBe('2027-04-01');
  expect(await renew(dated, { expires_at: null })).toBeNull();
  expect(await renew(dated, { duration_days: 1 })).toBe('2027-04-02');

  expect(await renew(dated, { expires_at: '2027-03-31' })).toBe('400 expires_at');
  expect(await renew(dated, {})).toBe('400 expires_at');
  expect(await renew(dated)).toBe('400 expires_at');
  expect(await renew(dated, { expires_at: '2027-06-01', duration_days: 1 })).toBe('400 duration_days');
  expect(await renew(dated, { duration_days: 0 })).toBe('400 duration_days');
  expect(await renew(dated, { days: 5 })).toBe('400 days');
  // A date has four digits for its year: past that there is none to answer.
  const late = await ada.createLicense({ expires_at: '9999-12-30' });
  expect(await renew(late, { duration_days: 1 })).toBe('9999-12-31');
  expect(await renew(late, { duration_days: 1 })).toBe('400 duration_days');
  expect((await ada.verify(late.license_key)).body).toMatchObject({ valid: true, expires_at: '9999-12-31' });

  // Two renewals at once are two renewals.
  const twice = await ada.createLicense({ expires_at: '2027-06-01' });
  await Promise.all([1, 2, 3].map(() => renew(twice, { duration_days: 10 })));
  const { body } = await ada.asSession('GET', `/api/v1/licenses/${twice.id}`);
  expect(body.expires_at).toBe('2027-07-01');
});

test('of a suspension and a revocation at once, the license ends up revoked', async () => {
  const ada = await signUp();
  for (let i = 0; i < 5; i++) {
    const license = await ada.createLicense();
    const path = `/api/v1/licenses/${license.id}`;
    const answers = await Promise.all(
      ['suspend', 'revoke', 'suspend', 'reinstate'].map((verb) => ada.asSession('POST', `${path}/${verb}`)),
    );
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(answers[1]?.status).toBe(200);
    expect((await ada.verify(license.license_key)).body.status).toBe('revoked');
  }
});

test('what a license says of its customer can be changed, what it is can’t', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const license = await ada.createLicense({ product: 'Orrery', metadata: { seats: 1, trial: true } });
  const path = `/api/v1/licenses/${license.id}`;
  const patch = (sent: object) => ada.asKey('PATCH', path, sent);
  vi.advanceTimersByTime(1_000);
  const changes = {
    customer_email: 'bob@example.com',
    customer_name: 'Bob',
    product: 'Astrolabe',
    expires_at: '2027-12-31',
    metadata: { seats: 2 },
  };
  const patched = await patch({ ...changes, customer_email: 'Bob@Example.com' });
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
  expect((await patch(cleared)).body).toMatchObject({ ...cleared, customer_email: 'bob@example.com' });

  const unfit = [
    { license_key: 'ANOTHER-KEY' },
    { status: 'revoked' },
    { customer_email: null },
    { metadata: null },
    { expires_at: '2027-03-09' },
    { duration_days: 5 },
    { created_at: '2020-01-01T00:00:00.000Z' },
  ];
  for (const sent of unfit) expect((await patch(sent)).body.error.code).toBe('invalid_request');

  // Revoked is final: its days stay as they were, while its customer may still be corrected.
  await ada.asSession('POST', `${path}/revoke`);
  expect((await patch({ expires_at: '2099-01-01' })).body.error.code).toBe('invalid_transition');
  const corrected = await patch({ customer_name: 'Robert' });
  expect([corrected.body.status, corrected.body.customer_name]).toEqual(['revoked', 'Robert']);
});
