import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { isoDate } from '../../src/shared/rules/dates.ts';
import { signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, kill, readGate, setPlan, setUsage, statistics } from '../support/gate.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const runInParallel = <T>(times: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, i) => call(i)));

test('200 parallel verifies count exactly 200 and each returns its own api_usage', async () => {
  useFakeClock();
  const { ada, license_key } = await sellerWithLicense({}, 'pro');
  const answers = await runInParallel(200, () => ada.verify(license_key));
  expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
  const usages = answers.map(({ body }) => body.api_usage as number).toSorted((a, b) => a - b);
  expect(usages).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
  await evict(ada.accountId);
  const counted = await statistics(ada.accountId);
  expect(counted.apiUsage).toBe(200);
  expect(counted.days).toEqual([{ date: isoDate(Date.now()), verify: 200, create: 0 }]);
});

test('calls that arrive during a commit share the next commit', async () => {
  const { ada, license_key } = await sellerWithLicense({}, 'pro');
  let commits = 0;
  await runInDurableObject(gate(ada.accountId), (_instance, { storage }) => {
    const sync = storage.sync.bind(storage);
    vi.spyOn(storage, 'sync').mockImplementation(() => {
      commits++;
      return sync();
    });
  });
  const answers = await runInParallel(100, () => ada.verify(license_key));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(commits).toBeGreaterThan(0);
  expect(commits).toBeLessThan(50);
});

test('a usage limit with 10 calls left admits exactly 10 of 50 parallel verifies and creates', async () => {
  useFakeClock();
  const { ada, license_key } = await sellerWithLicense({}, 'pro');
  await setUsage(ada.accountId, 99_990);
  const answers = await runInParallel(50, (i) =>
    i % 2 === 0 ? ada.verify(license_key) : ada.asKey('POST', '/api/v1/licenses/create', {}),
  );
  const admitted = answers.filter(({ status }) => status < 300);
  const refused = answers.filter(({ status }) => status === 429);
  expect(admitted).toHaveLength(10);
  expect(refused).toHaveLength(40);
  for (const { body, headers } of refused) {
    expect(body.error.code).toBe('usage_limit_exceeded');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await statistics(ada.accountId)).apiUsage).toBe(100_000);
});

test('a failed create costs no usage, and neither does a create by session', async () => {
  useFakeClock();
  const ada = await signUp();
  await ada.createLicense({ license_key: 'TAKEN-KEY' });
  const create = (body: unknown) => ada.asKey('POST', '/api/v1/licenses/create', body);
  expect((await create({ license_key: 'TAKEN-KEY' })).body.error.code).toBe('license_key_taken');
  expect((await create({ product: 7 })).status).toBe(400);
  expect((await create({})).status).toBe(201);
  const counted = await statistics(ada.accountId);
  expect(counted.apiUsage).toBe(1);
  expect(counted.days).toEqual([{ date: isoDate(Date.now()), verify: 0, create: 1 }]);
});

test('rate-limited calls cost no usage', async () => {
  useFakeClock();
  const { ada, license_key } = await sellerWithLicense();
  const answers = await runInParallel(30, () => ada.verify(license_key));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(answers.filter(({ body }) => body.error?.code === 'rate_limit_exceeded')).toHaveLength(10);
  expect((await statistics(ada.accountId)).apiUsage).toBe(20);
});

test('every answered call stays counted when the gate is killed under load', async () => {
  const { ada, license_key } = await sellerWithLicense({}, 'scale');
  const usages: number[] = [];
  let unanswered = 0;
  for (let round = 0; round < 5; round++) {
    await runInParallel(40, async (i) => {
      if (i === 20) await kill(ada.accountId);
      const { status, body } = await ada.verify(license_key);
      if (status === 200) usages.push(body.api_usage);
      else unanswered++;
    });
  }
  const { apiUsage } = await statistics(ada.accountId);
  expect(new Set(usages).size).toBe(usages.length);
  expect(usages.length + unanswered).toBe(200);
  expect(unanswered).toBeGreaterThan(0);
  // An interrupted call may or may not have been counted.
  expect(apiUsage).toBeGreaterThanOrEqual(usages.length);
  expect(apiUsage).toBeLessThanOrEqual(200);
});

test('evicting the gate between calls loses no count', async () => {
  const { ada, license_key } = await sellerWithLicense();
  for (let usage = 1; usage <= 8; usage++) {
    expect((await ada.verify(license_key)).body.api_usage).toBe(usage);
    await evict(ada.accountId);
  }
});

test('usage restarts each month, and a clock set back continues the old month', async () => {
  useFakeClock(Date.UTC(2026, 10, 30, 23, 59, 59));
  const { ada, license_key } = await sellerWithLicense({ expires_at: '2026-11-30' });
  expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 1 });
  expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 2 });

  vi.setSystemTime(Date.UTC(2026, 11, 1));
  expect((await ada.verify(license_key)).body).toMatchObject({ status: 'expired', api_usage: 1 });
  const december = (await ada.asSession('GET', '/api/dashboard')).body;
  expect(december.usage).toMatchObject({
    api_usage: 1,
    period_start: '2026-12-01T00:00:00.000Z',
    period_end: '2027-01-01T00:00:00.000Z',
  });
  expect(december.usage_by_day.slice(-2)).toEqual([
    { date: '2026-11-30', verify: 2, create: 0 },
    { date: '2026-12-01', verify: 1, create: 0 },
  ]);

  vi.setSystemTime(Date.UTC(2026, 10, 30, 12));
  expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 3 });
  await evict(ada.accountId);
  vi.setSystemTime(Date.UTC(2026, 11, 1, 1));
  expect((await ada.verify(license_key)).body).toMatchObject({ status: 'expired', api_usage: 2 });
});

test('an account at its usage limit gets Retry-After until the period ends and can then call again', async () => {
  useFakeClock(Date.UTC(2026, 10, 30, 23, 59, 0));
  const { ada, license_key } = await sellerWithLicense();
  await setUsage(ada.accountId, 1_000);
  const refused = await ada.verify(license_key);
  expect(refused.status).toBe(429);
  expect(refused.body.error.code).toBe('usage_limit_exceeded');
  expect(refused.headers.get('retry-after')).toBe('60');
  vi.setSystemTime(Date.UTC(2026, 11, 1));
  expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 1 });
});

test('a larger plan raises the usage limit and keeps the usage', async () => {
  const { ada, license_key } = await sellerWithLicense();
  await setUsage(ada.accountId, 1_000);
  expect((await ada.verify(license_key)).status).toBe(429);
  await setPlan(ada.accountId, 'pro');
  expect((await ada.verify(license_key)).body).toMatchObject({ api_usage: 1_001, api_limit: 100_000 });
});

test('a deleted API key leaves no counter behind', async () => {
  const { ada, license_key } = await sellerWithLicense();
  await ada.verify(license_key);
  const counters = async () =>
    JSON.stringify([
      await readGate(ada.accountId, 'SELECT * FROM recent_counters'),
      await readGate(ada.accountId, 'SELECT * FROM counters'),
    ]);
  expect(await counters()).toContain(ada.apiKeyId);
  await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect(await counters()).not.toContain(ada.apiKeyId);
  expect((await statistics(ada.accountId)).apiUsage).toBe(1);
});

test('a gate killed after the announcement of a create that is never committed counts nothing', async () => {
  useFakeClock();
  const { ada, license_key } = await sellerWithLicense();
  for (let i = 0; i < 3; i++) await ada.verify(license_key);
  await gate(ada.accountId).announce('lic_never', { call: 'create', claim: null }, 'token');
  expect((await statistics(ada.accountId)).apiUsage).toBe(4);
  await kill(ada.accountId);
  expect((await statistics(ada.accountId)).apiUsage).toBe(4);

  vi.advanceTimersByTime(100_000);
  await gate(ada.accountId).pull();
  await runDurableObjectAlarm(gate(ada.accountId));
  expect((await statistics(ada.accountId)).apiUsage).toBe(3);
});
