import { expect, test, vi } from 'vitest';
import { call, freshAddress } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { expectError } from './expect-error.ts';

test('an API key over its rate limit gets 429 with a Retry-After of one second on every endpoint', async () => {
  useFakeClock();
  const { ada, license_key } = await sellerWithLicense();
  const first = await ada.asKey('GET', '/api/account');
  expect(first.headers.get('ratelimit-policy')).toBe('"key";q=20;w=2');
  expect(first.headers.get('ratelimit')).toBe('"key";r=19;t=1');
  for (let i = 0; i < 19; i++) expect((await ada.verify(license_key)).status).toBe(200);

  for (const refused of [await ada.verify(license_key), await ada.asKey('GET', '/api/account')]) {
    expectError(refused, 429, 'rate_limit_exceeded', 'Rate Limit Exceeded');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"key";r=0;t=2');
    expect(refused.headers.get('ratelimit-policy')).toBe('"key";q=20;w=2');
  }
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  vi.advanceTimersByTime(1_000);
  expect((await ada.verify(license_key)).body.api_usage).toBe(20);
});

test('an account gets 429 after its 1,000th call of the month until the next month starts', async () => {
  useFakeClock('2027-01-30T12:00:00.000Z');
  const { ada, license_key } = await sellerWithLicense();
  for (let calls = 0; calls < 1_000; calls += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ada.verify(license_key)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    vi.advanceTimersByTime(2_000);
  }
  const refused = await ada.asKey('POST', '/api/v1/licenses/create', {});
  expectError(refused, 429, 'usage_limit_exceeded', 'API Usage Limit Exceeded');
  const secondsLeft = (Date.parse('2027-02-01T00:00:00.000Z') - Date.now()) / 1_000;
  expect(refused.headers.get('retry-after')).toBe(String(secondsLeft));
  const verify = await ada.verify(license_key);
  expect([verify.status, verify.body.error.code]).toEqual([429, 'usage_limit_exceeded']);
  expect(verify.headers.get('retry-after')).toBe(String(secondsLeft));
  expect(verify.headers.get('ratelimit')).toMatch(/^"key";r=/);
  // Calls that cost no usage still work, and every call works in the new month.
  expect((await ada.asKey('GET', '/api/v1/licenses')).body.data).toHaveLength(1);
  vi.setSystemTime('2027-02-01T00:00:00.000Z');
  expect((await ada.verify(license_key)).body).toMatchObject({ api_usage: 1, api_limit: 1_000 });
});

test('the eleventh failed login to an email address gets 429', async () => {
  // Ten hashes can take more than ten seconds on a busy machine.
  useFakeClock();
  const ip = freshAddress();
  const login = () =>
    call('POST', '/api/login', {
      body: { email: 'nobody@example.com', password: 'wrong horse battery' },
      headers: { 'cf-connecting-ip': ip },
    });
  const answers = await Promise.all(Array.from({ length: 11 }, login));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(1);
  for (const answer of refused) {
    expectError(answer, 429, 'rate_limit_exceeded', 'Rate Limit Exceeded');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(890);
  }
});
