import { expect, test, vi } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

test('a license is verified from its first day to its last, and counted every time', async () => {
  useFakeClock('2027-03-08T09:00:00.000Z');
  const ada = await signUp();
  const license = await ada.createLicense({ product: 'Orrery', expires_at: '2027-03-10' });
  let calls = 0;
  const expectVerdict = async (status: string, expiresAt: string | null = '2027-03-10') => {
    const answer = await ada.verify(license.license_key);
    expect(answer.status).toBe(200);
    // Exactly these five, so that an application may rely on their order and number.
    expect(Object.entries(answer.body)).toEqual([
      ['valid', status === 'active'],
      ['status', status],
      ['expires_at', expiresAt],
      ['api_usage', ++calls],
      ['api_limit', 1_000],
    ]);
  };
  const change = async (verb: string, sent?: object) =>
    expect((await ada.asSession('POST', `/api/v1/licenses/${license.id}/${verb}`, sent)).status).toBe(200);

  await expectVerdict('active');
  // Good through the end of that day, UTC.
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

test('an unknown license is a verdict, and another account’s license is unknown', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const license = await ada.createLicense();
  const own = await bob.createLicense({ license_key: 'SHARED-NAME-1', expires_at: '2099-01-01' });
  await ada.createLicense({ license_key: 'SHARED-NAME-1' });
  const notFound = { valid: false, status: 'not_found', expires_at: null, api_limit: 1_000 };
  const unknown = [
    '7K3QD-9WZXA-M2RTB-H5NVE-40GPC',
    ' ',
    'x',
    'ключ',
    '😀'.repeat(40),
    "' OR 1=1 --",
    '\u0000',
  ];
  let calls = 0;
  for (const key of [license.license_key, ...unknown, 'x'.repeat(129), 'x'.repeat(60_000)]) {
    const { status, body } = await bob.verify(key);
    expect([status, body]).toEqual([200, { ...notFound, api_usage: ++calls }]);
  }
  // Each account sees its own license of the name that both have given.
  expect((await bob.verify(own.license_key)).body).toMatchObject({ valid: true, expires_at: '2099-01-01' });
  expect((await ada.verify('SHARED-NAME-1')).body).toMatchObject({ valid: true, expires_at: null });
});

test('a generated key may be typed any way a person reads it, an own one is taken to the letter', async () => {
  const ada = await signUp();
  const { license_key: key } = await ada.createLicense();
  const spellings = [
    key.toLowerCase(),
    key.replaceAll('-', ''),
    key.replaceAll('-', ' '),
    key.replaceAll('0', 'O').replaceAll('1', 'l'),
    ` ${key.replaceAll('0', 'o').replaceAll('1', 'I')} `,
    key.toLowerCase().replace(/-/, '--'),
  ];
  for (const typed of spellings) {
    const { body } = await ada.verify(typed);
    expect([typed, body.status]).toEqual([typed, 'active']);
  }
  const other = key.startsWith('A') ? 'B' : 'A';
  expect((await ada.verify(other + key.slice(1))).body.status).toBe('not_found');

  await ada.createLicense({ license_key: 'My.own_Key-01' });
  expect((await ada.verify('My.own_Key-01')).body.status).toBe('active');
  for (const typed of ['my.own_key-01', 'My.own_Key-O1', 'My.own_Key01', ' My.own_Key-01']) {
    expect((await ada.verify(typed)).body.status).toBe('not_found');
  }
});

test('only a call that is answered counts, and each exactly once however many come at a time', async () => {
  useFakeClock();
  const ada = await signUp();
  const { license_key: key } = await ada.createLicense();
  const { body: shipped } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const usages = async (apiKey: string, calls: number): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: calls }, () => ada.verify(key, apiKey)));
    return answers.map(({ body }: Json) => body.api_usage).toSorted((a, b) => a - b);
  };
  const [byFull, byShipped] = await Promise.all([usages(ada.apiKey, 15), usages(shipped.api_key, 15)]);
  expect([...byFull, ...byShipped].toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 30 }, (_, i) => i + 1),
  );

  // Five more use up the burst; the sixth is refused and costs nothing, as do calls without a good key.
  expect(await usages(ada.apiKey, 5)).toEqual([31, 32, 33, 34, 35]);
  expect((await ada.verify(key)).status).toBe(429);
  expect((await ada.verify(key, 'nonsense')).status).toBe(403);
  expect((await ada.asSession('POST', '/api/v1/licenses/verify', { license_key: key })).status).toBe(401);
  expect((await ada.asSession('GET', '/api/dashboard')).body.usage.api_usage).toBe(35);
  // Unknown fields are left alone: an application of tomorrow may send more.
  const sent = { license_key: key, machine: 'm-1' };
  const headers = { 'x-api-key': shipped.api_key };
  const { body } = await ada.asSession('POST', '/api/v1/licenses/verify', sent, headers);
  expect(body).toMatchObject({ valid: true, api_usage: 36 });
});
