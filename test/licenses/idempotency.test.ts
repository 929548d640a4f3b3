import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const HOUR_MS = 3_600_000;

const creator = (customer: Customer) => (key: string, body: object) =>
  customer.asKey('POST', '/api/v1/licenses/create', body, { 'idempotency-key': key });

const usageOf = async (customer: Customer): Promise<number> =>
  (await customer.asSession('GET', '/api/dashboard')).body.usage.api_usage;
const licensesOf = async (customer: Customer) =>
  (await customer.asSession('GET', '/api/v1/licenses')).body.data;

test('a retry gives the license of the first call and costs nothing, for a day', async () => {
  const startMs = Date.parse('2027-03-10T12:00:00.000Z');
  useFakeClock(startMs);
  const [ada, bob] = [await signUp(), await signUp()];
  const create = creator(ada);
  const order = { product: 'Orrery', metadata: { order: 7 } };
  const first = await create('order-7', order);
  expect(first.status).toBe(201);
  const again = await create('order-7', order);
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect([...again.headers.keys()]).toEqual([...first.headers.keys()]);
  // The order in which the fields are written makes no other body; a session may retry for a key.
  const reordered = { metadata: { order: 7 }, product: 'Orrery' };
  expect((await create('order-7', reordered)).body).toEqual(first.body);
  const bySession = { 'idempotency-key': 'order-7' };
  const retried = await ada.asSession('POST', '/api/v1/licenses/create', order, bySession);
  expect(retried.body).toEqual(first.body);
  expect([await usageOf(ada), await licensesOf(ada)]).toEqual([1, [first.body]]);

  for (const other of [{ ...order, product: 'Astrolabe' }, {}]) {
    const conflict = await create('order-7', other);
    expect([conflict.status, conflict.body.error.code]).toEqual([409, 'idempotency_conflict']);
  }
  const second = await create('order-8', order);
  expect(second.body.id).not.toBe(first.body.id);
  // The key is this account’s alone.
  const theirs = await creator(bob)('order-7', order);
  expect([theirs.status, theirs.body.customer_email]).toEqual([201, bob.email]);
  expect(await usageOf(ada)).toBe(2);

  vi.setSystemTime(startMs + 24 * HOUR_MS - 1);
  expect((await create('order-7', order)).body.id).toBe(first.body.id);
  vi.setSystemTime(startMs + 24 * HOUR_MS);
  const nextDay = await create('order-7', { ...order, product: 'Astrolabe' });
  expect([nextDay.status, nextDay.body.product]).toEqual([201, 'Astrolabe']);
  expect((await create('order-7', { ...order, product: 'Astrolabe' })).body.id).toBe(nextDay.body.id);
  expect(await usageOf(ada)).toBe(3);
  // Yesterday's claims have made way.
  const claims = env.DB.prepare('SELECT key FROM idempotency_keys WHERE account_id = ?').bind(ada.accountId);
  expect((await claims.all()).results).toEqual([{ key: 'order-7' }]);
});

test('ten retries at once make one license, answer it ten times and count once', async () => {
  const ada = await signUp();
  const create = creator(ada);
  const answers = await Promise.all(Array.from({ length: 10 }, () => create('race', { product: 'Orrery' })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  const [license] = await licensesOf(ada);
  for (const { body } of answers) expect(body).toEqual(license);
  expect([await usageOf(ada), (await licensesOf(ada)).length]).toEqual([1, 1]);

  // Of two bodies at once under one key, one wins and the others are told.
  const mixed = await Promise.all(
    Array.from({ length: 8 }, (_, i) => create('mixed', { product: i % 2 ? 'Orrery' : 'Astrolabe' })),
  );
  const made = new Set(mixed.filter(({ status }) => status === 201).map(({ body }) => body.id));
  expect(made.size).toBe(1);
  const told = mixed.filter(({ status }) => status === 409).map(({ body }) => body.error.code);
  expect(told).toEqual(Array.from({ length: 4 }, () => 'idempotency_conflict'));
  expect([await usageOf(ada), (await licensesOf(ada)).length]).toEqual([2, 2]);
});

test('a call that failed claims nothing: mended, it may use its key', async () => {
  const ada = await signUp();
  const create = creator(ada);
  await ada.createLicense({ license_key: 'TAKEN-ALREADY' });
  expect((await create('order-9', { license_key: 'TAKEN-ALREADY' })).body.error.code).toBe(
    'license_key_taken',
  );
  expect((await create('order-9', { license_key: 'short' })).body.error.code).toBe('invalid_request');
  expect((await create('order-9', { license_key: 'FREE-STILL' })).status).toBe(201);
  expect((await create('k'.repeat(255), {})).status).toBe(201);
  for (const bad of ['k'.repeat(256), 'two words', '']) {
    expect((await create(bad, {})).body.error.details[0].path).toBe('idempotency-key');
  }
  expect(await usageOf(ada)).toBe(2);
});
