import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { sellerWithLicense } from '../support/worlds.ts';

test('verify reports each state of a license from creation to revocation, and counts every call', async () => {
  useFakeClock('2027-03-08T09:00:00.000Z');
  const { ada, license } = await sellerWithLicense({ product: 'Orrery', expires_at: '2027-03-10' });
  let calls = 0;
  const expectVerdict = async (status: string, expiresAt: string | null = '2027-03-10') => {
    const answer = await ada.verify(license.license_key);
    expect(answer.status).toBe(200);
    // Applications may rely on exactly these five fields in this order.
    expect(Object.entries(answer.body)).toEqual([
      ['valid', status === 'active'],
      ['status', status],
      ['expires_at', expiresAt],
      ['api_usage', ++calls],
      ['api_limit', 1_000],
    ]);
  };
  const change = async (action: string, body?: object) =>
    expect((await ada.asSession('POST', `/api/v1/licenses/${license.id}/${action}`, body)).status).toBe(200);

  await expectVerdict('active');
  // The license is valid until the end of its last day, UTC.
  vi.setSystemTime('2027-03-10T23:59:59.999Z');
  await expectVerdict('active');
  vi.setSystemTime('2027-03-11T00:00:00.000Z');
  await expectVerdict('expired');
  await change('suspend');
  await expectVerdict('suspended');
  await change('renew', { expires_at: null });
  await expectVerdict('suspended', null);
  await change('reinstate');
  await expectVerdict('active', null);
  await change('renew', { duration_days: 1 });
  await expectVerdict('active', '2027-03-12');
  await change('revoke');
  await expectVerdict('revoked', '2027-03-12');
  vi.setSystemTime('2027-03-20T00:00:00.000Z');
  await expectVerdict('revoked', '2027-03-12');
  vi.setSystemTime('2027-04-01T00:00:00.000Z');
  calls = 0;
  await expectVerdict('revoked', '2027-03-12');
});

describe('verifying an unknown or foreign license key', () => {
  const NOT_FOUND = { valid: false, status: 'not_found', expires_at: null, api_usage: 0, api_limit: 1_000 };
  let bob: Customer;

  beforeAll(async () => {
    bob = await signUp();
  });

  test.for([
    { name: 'a well-formed unknown key', key: '7K3QD-9WZXA-M2RTB-H5NVE-40GPW' },
    { name: 'a space', key: ' ' },
    { name: 'a single letter', key: 'x' },
    { name: 'Cyrillic text', key: 'ключ' },
    { name: 'emoji', key: '😀'.repeat(40) },
    { name: 'an SQL injection', key: "' OR 1=1 --" },
    { name: 'a NUL character', key: '\u0000' },
    { name: '129 characters', key: 'x'.repeat(129) },
    { name: '60,000 characters', key: 'x'.repeat(60_000) },
  ])('answers not_found and counts nothing for $name', async ({ key }) => {
    const { status, body } = await bob.verify(key);
    expect([status, body]).toEqual([200, NOT_FOUND]);
  });

  test('answers not_found and counts nothing for another account’s license', async () => {
    const { license } = await sellerWithLicense();
    const { status, body } = await bob.verify(license.license_key);
    expect([status, body]).toEqual([200, NOT_FOUND]);
  });
});

test('two accounts may use the same license key, and each verifies its own license', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  await bob.createLicense({ license_key: 'SHARED-NAME-1', expires_at: '2099-01-01' });
  await ada.createLicense({ license_key: 'SHARED-NAME-1' });
  expect((await bob.verify('SHARED-NAME-1')).body).toMatchObject({ valid: true, expires_at: '2099-01-01' });
  expect((await ada.verify('SHARED-NAME-1')).body).toMatchObject({ valid: true, expires_at: null });
});

describe('a typed license key', () => {
  let ada: Customer;
  let licenseKey: string;

  beforeAll(async () => {
    ada = await signUp();
    licenseKey = (await ada.createLicense()).license_key;
    await ada.createLicense({ license_key: 'My.own_Key-01' });
  });

  test.for([
    { name: 'in lower case', type: (key: string) => key.toLowerCase() },
    { name: 'without hyphens', type: (key: string) => key.replaceAll('-', '') },
    { name: 'with spaces for hyphens', type: (key: string) => key.replaceAll('-', ' ') },
    {
      name: 'with O for 0 and l for 1',
      type: (key: string) => key.replaceAll('0', 'O').replaceAll('1', 'l'),
    },
    {
      name: 'with o for 0, I for 1 and spaces around it',
      type: (key: string) => ` ${key.replaceAll('0', 'o').replaceAll('1', 'I')} `,
    },
    { name: 'with a doubled hyphen', type: (key: string) => key.toLowerCase().replace(/-/, '--') },
  ])('verifies $name if it was generated', async ({ type }) => {
    const typed = type(licenseKey);
    const { body } = await ada.verify(typed);
    expect([typed, body.status]).toEqual([typed, 'active']);
  });

  test('is not found with a wrong character', async () => {
    const wrongCharacter = licenseKey.startsWith('A') ? 'B' : 'A';
    expect((await ada.verify(wrongCharacter + licenseKey.slice(1))).body.status).toBe('not_found');
  });

  test.for([
    ['My.own_Key-01', 'active'],
    ['my.own_key-01', 'not_found'],
    ['My.own_Key-O1', 'not_found'],
    ['My.own_Key01', 'not_found'],
    [' My.own_Key-01', 'not_found'],
  ] as const)(
    'must match the seller’s own key My.own_Key-01 exactly: “%s” is %s',
    async ([typed, status]) => {
      expect((await ada.verify(typed)).body.status).toBe(status);
    },
  );
});

test('parallel verifies count exactly once each, and refused calls count nothing', async () => {
  useFakeClock();
  const { ada, license_key: key } = await sellerWithLicense();
  const { body: verifyKey } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const usages = async (apiKey: string, calls: number): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: calls }, () => ada.verify(key, apiKey)));
    return answers.map(({ body }: Json) => body.api_usage).toSorted((a, b) => a - b);
  };
  const [byFullKey, byVerifyKey] = await Promise.all([usages(ada.apiKey, 15), usages(verifyKey.api_key, 15)]);
  expect([...byFullKey, ...byVerifyKey].toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 30 }, (_, i) => i + 1),
  );

  // Five more calls use up the burst. Calls over the rate limit or without a valid API key cost nothing.
  expect(await usages(ada.apiKey, 5)).toEqual([31, 32, 33, 34, 35]);
  expect((await ada.verify(key)).status).toBe(429);
  expect((await ada.verify(key, 'nonsense')).status).toBe(403);
  expect((await ada.asSession('POST', '/api/v1/licenses/verify', { license_key: key })).status).toBe(401);
  expect((await ada.asSession('GET', '/api/dashboard')).body.usage.api_usage).toBe(35);
  // Verify ignores unknown fields, because later clients may send more.
  const withUnknownField = { license_key: key, machine: 'm-1' };
  const headers = { 'x-api-key': verifyKey.api_key };
  const { body } = await ada.asSession('POST', '/api/v1/licenses/verify', withUnknownField, headers);
  expect(body).toMatchObject({ valid: true, api_usage: 36 });
});
