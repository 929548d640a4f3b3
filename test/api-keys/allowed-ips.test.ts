import { expect, test, vi } from 'vitest';
import { type Answer, call, type Json, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
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
  expect((await statistics(ada.accountId)).apiUsage).toBe(3);
  // The account's other keys have no addresses.
  expect(await use('198.51.100.1', ada.apiKey)).toEqual(ALLOWED);
});

test('calls from an address that isn’t allowed have a rate limit of their own, and take nothing of the key’s', async () => {
  useFakeClock();
  const { ada, key } = await openOffice();
  const getAccount = (ip: string, apiKey: string = key.api_key) =>
    call('GET', '/api/account', { headers: { 'x-api-key': apiKey, ...from(ip) } });
  const answersOf = async (times: number, ip: string) => {
    const answers: Answer[] = [];
    for (let i = 0; i < times; i++) answers.push(await getAccount(ip));
    return tallyOf(answers);
  };
  expect(await answersOf(30, '198.51.100.1')).toEqual({
    '403 ip_not_allowed': 20,
    '429 rate_limit_exceeded': 10,
  });
  // All foreign addresses share the limit.
  expect(await answersOf(2, '198.51.100.2')).toEqual({ '429 rate_limit_exceeded': 2 });
  const first = await getAccount(OFFICE);
  expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"key";r=19;t=1']);
  expect(await answersOf(20, OFFICE)).toEqual({ '200 ok': 19, '429 rate_limit_exceeded': 1 });
  // The account’s limit of 50 has the owner’s 20 calls in it, and no others.
  const other = await getAccount('198.51.100.1', ada.apiKey);
  expect(other.headers.get('ratelimit')).toBe('"key";r=19;t=1');
  vi.advanceTimersByTime(100);
  expect(await answersOf(2, '198.51.100.1')).toEqual({
    '403 ip_not_allowed': 1,
    '429 rate_limit_exceeded': 1,
  });
  expect(await answersOf(1, OFFICE)).toEqual({ '200 ok': 1 });
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
