import { beforeEach, expect, test, vi } from 'vitest';
import { type Answer, call, type Customer, freshAddress, outcomeOf, tallyOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setPlan, statistics } from '../support/gate.ts';
import { openBranch, setHome, verifyAtHome, verifyIn } from '../support/regions.ts';
import { sellerWithLicense } from '../support/worlds.ts';

let ada: Customer;
let licenseKey: string;

beforeEach(async () => {
  useFakeClock();
  ({ ada, license_key: licenseKey } = await sellerWithLicense({}, 'scale'));
});

const callWith = (license_key: string, ip: string, name = 'verify') =>
  call('POST', `/api/v1/licenses/${name}`, {
    body: { license_key },
    headers: { 'x-api-key': ada.apiKey, 'cf-connecting-ip': ip },
  });

const guess = async (times: number, ipOf: (i: number) => string, name = 'verify') => {
  const answers: Answer[] = [];
  for (let i = 0; i < times; i++) answers.push(await callWith(`GUESS-${i}`, ipOf(i), name));
  return answers;
};

const MOST_OF_AN_ADDRESS = { '200 ok': 60, '429 rate_limit_exceeded': 10 };

test('made-up license keys use up nothing of the usage limit', async () => {
  await setPlan(ada.accountId, 'free');
  const answers = await guess(15, freshAddress);
  expect(answers.every(({ body }) => body.status === 'not_found' && body.api_usage === 0)).toBe(true);
  expect((await statistics(ada.accountId)).apiUsage).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect((await callWith('GUESS', freshAddress(), 'activate')).body).toMatchObject({
    code: 'not_found',
    api_usage: 0,
  });
  expect((await callWith(licenseKey, freshAddress())).body.api_usage).toBe(1);
});

test('an address gets 60 answers a minute for unknown license keys, and its calls for real ones go on', async () => {
  const ip = freshAddress();
  const answers = await guess(70, () => ip);
  expect(tallyOf(answers)).toEqual(MOST_OF_AN_ADDRESS);
  const refused = answers.at(-1);
  expect(Object.fromEntries(refused?.headers ?? [])).toMatchObject({
    'retry-after': '60',
    'ratelimit-policy': '"unknown-licenses";q=60;w=60',
    ratelimit: '"unknown-licenses";r=0;t=60',
  });
  for (const name of ['activate', 'heartbeat', 'deactivate'])
    expect(outcomeOf(await callWith('GUESS', ip, name))).toBe('429 rate_limit_exceeded');
  expect((await callWith(licenseKey, ip)).body).toMatchObject({ valid: true, api_usage: 1 });
  expect((await callWith('GUESS', freshAddress())).body.status).toBe('not_found');
  vi.advanceTimersByTime(60_000);
  expect(tallyOf(await guess(70, () => ip))).toEqual(MOST_OF_AN_ADDRESS);
});

test('a network of IPv6 addresses is one address', async () => {
  expect(tallyOf(await guess(70, (i) => `2001:db8:0:1::${i + 1}`))).toEqual(MOST_OF_AN_ADDRESS);
  expect((await callWith('GUESS', '2001:db8:0:2::1')).status).toBe(200);
});

test('all addresses together get 600 answers a minute for unknown license keys', async () => {
  const addresses = Array.from({ length: 30 }, freshAddress);
  const answers = await guess(630, (i) => addresses[i % 30] ?? '');
  expect(tallyOf(answers)).toEqual({ '200 ok': 600, '429 rate_limit_exceeded': 30 });
  expect(answers.at(-1)?.headers.get('ratelimit-policy')).toBe('"unknown-licenses";q=600;w=60');
  expect((await callWith(licenseKey, addresses[0] ?? '')).body.valid).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect((await callWith('GUESS', addresses[0] ?? '')).status).toBe(200);
});

test('a clock that is set back frees the callers at once', async () => {
  const ip = freshAddress();
  expect(tallyOf(await guess(61, () => ip))).toMatchObject({ '200 ok': 60 });
  vi.setSystemTime(Date.now() - 3_600_000);
  expect((await callWith('GUESS', ip)).status).toBe(200);
});

test('branches let home answer for unknown license keys, so the limit holds in all regions together', async () => {
  await setHome(ada.accountId, 'weur');
  await openBranch('oc', ada, licenseKey);
  const before = (await statistics(ada.accountId)).apiUsage;
  const tally: Record<string, number> = {};
  for (let i = 0; i < 70; i++) {
    const verify = i % 2 === 0 ? verifyIn : verifyAtHome;
    const outcome = (await verify('oc', ada, `GUESS-${i}`)).refused ?? 'answered';
    tally[outcome] = (tally[outcome] ?? 0) + 1;
  }
  expect(tally).toEqual({ answered: 60, rate_limit_exceeded: 10 });
  expect((await verifyIn('oc', ada, licenseKey)).refused).toBeNull();
  expect((await statistics(ada.accountId)).apiUsage - before).toBeLessThanOrEqual(1);
});
