import { expect, test } from 'vitest';
import { call, type Json, outcomeOf, signUp } from '../support/client.ts';
import { evict, statistics } from '../support/gate.ts';

const OFFICE = '192.0.2.7';
const from = (ip: string | null) => (ip === null ? {} : { 'cf-connecting-ip': ip });
/** A customer with a key that works only from the office. */
const openOffice = async () => {
  const ada = await signUp();
  const { body: key } = await ada.asSession('POST', '/api/create-api-key', {
    allowed_ips: ['192.0.2.9/24', '192.0.2.0/24', '2001:DB8::1'],
  });
  const use = async (ip: string | null, apiKey: string = key.api_key) => {
    const headers = { 'x-api-key': apiKey, ...from(ip) };
    const verify = { body: { license_key: 'AAAAAAAA' }, headers };
    return [
      outcomeOf(await call('GET', '/api/account', { headers })),
      outcomeOf(await call('POST', '/api/v1/licenses/verify', verify)),
      outcomeOf(await call('POST', '/api/v1/licenses/create', { headers })),
    ];
  };
  return { ada, key, use };
};

const ALLOWED = ['200 ok', '200 ok', '201 ok'];
const REFUSED = Array<string>(3).fill('403 ip_not_allowed');

test('an API key with allowed addresses works from these only, and a refused call counts no usage', async () => {
  const { ada, key, use } = await openOffice();
  expect(key.allowed_ips).toEqual(['192.0.2.0/24', '2001:db8::1']);
  expect(await use('198.51.100.1')).toEqual(REFUSED);
  expect(await use('2001:db8::2')).toEqual(REFUSED);
  // An address that isn't known is none of the allowed ones.
  expect(await use(null)).toEqual(REFUSED);
  const listed = async (): Promise<Json> => (await ada.asSession('GET', '/api/api-keys')).body.data[0];
  expect(await listed()).toMatchObject({ allowed_ips: key.allowed_ips, last_used_at: null });
  expect((await statistics(ada.accountId)).apiUsage).toBe(0);
  expect(await use(OFFICE)).toEqual(ALLOWED);
  expect(await use('::ffff:192.0.2.200')).toEqual(ALLOWED);
  expect(await use('2001:db8:0::1')).toEqual(ALLOWED);
  expect((await statistics(ada.accountId)).apiUsage).toBe(6);
  // The account's other keys have no addresses.
  expect(await use('198.51.100.1', ada.apiKey)).toEqual(ALLOWED);
});

test('a restarted gate and a rotated API key keep the allowed addresses', async () => {
  const { ada, key, use } = await openOffice();
  expect(await use(OFFICE)).toEqual(ALLOWED);
  await evict(ada.accountId);
  expect(await use('198.51.100.1')).toEqual(REFUSED);
  const { body: next } = await ada.asSession('POST', `/api/api-keys/${key.id}/rotate`);
  expect(next.allowed_ips).toEqual(key.allowed_ips);
  expect(await use('198.51.100.1', next.api_key)).toEqual(REFUSED);
  expect(await use(OFFICE, next.api_key)).toEqual(ALLOWED);
});

test.for([
  { allowed_ips: [] },
  { allowed_ips: ['office'] },
  { allowed_ips: ['192.0.2.1/33'] },
  { allowed_ips: ['192.0.2.1'], scope: 'verify' },
  { allowed_ips: Array.from({ length: 33 }, (_, i) => `192.0.2.${i}`) },
])('rejects %j and names the field', async (fields) => {
  const ada = await signUp();
  const { status, body } = await ada.asSession('POST', '/api/create-api-key', fields);
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(body.error.details[0].path).toMatch(/^allowed_ips/);
});
