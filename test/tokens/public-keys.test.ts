import { expect, onTestFinished, test, vi } from 'vitest';
import { call, freshAddress, tallyOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const publicKeysOf = (number: number, ip = freshAddress()) =>
  call('GET', `/api/v1/jwks/acct_${String(number).padStart(20, '0')}`, {
    headers: { 'cf-connecting-ip': ip },
  });

test('calls for the public keys of made-up accounts don’t make an account derive its signing keys again', async () => {
  const { ada, license_key } = await sellerWithLicense({}, 'pro');
  const derive = vi.spyOn(crypto.subtle, 'deriveBits');
  onTestFinished(() => derive.mockRestore());
  const derivedBy = async (work: () => Promise<unknown>) => {
    derive.mockClear();
    await work();
    return derive.mock.calls.length;
  };
  const verify = async () => {
    const { body } = await ada.asKey('POST', '/api/v1/licenses/verify', { license_key, nonce: 'nonce-01' });
    expect(typeof body.token).toBe('string');
  };
  expect(await derivedBy(verify)).toBeGreaterThan(0);
  expect(await derivedBy(verify)).toBe(0);
  for (let first = 0; first < 2_100; first += 100)
    await Promise.all(Array.from({ length: 100 }, (_, i) => publicKeysOf(first + i)));
  expect(await derivedBy(verify)).toBe(0);
});

test('an address that asks for public keys too fast is refused, and other addresses aren’t', async () => {
  useFakeClock();
  const ip = freshAddress();
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => publicKeysOf(i, ip)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(20);
  expect(Object.keys(tallyOf(answers)).toSorted()).toEqual(['200 ok', '429 rate_limit_exceeded']);
  expect(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1)).toBe(true);
  expect((await publicKeysOf(0)).status).toBe(200);
});
