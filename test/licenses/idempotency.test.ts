import { beforeAll, describe, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { type Customer, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setUsage } from '../support/gate.ts';

const createWithKey = (customer: Customer) => (key: string, body: object) =>
  customer.asKey('POST', '/api/v1/licenses/create', body, { 'idempotency-key': key });

const usageOf = async (customer: Customer): Promise<number> =>
  (await customer.asSession('GET', '/api/dashboard')).body.usage.api_usage;
const licensesOf = async (customer: Customer) =>
  (await customer.asSession('GET', '/api/v1/licenses')).body.data;

test('for 24 hours a retry returns the first call’s license and costs no usage', async () => {
  const startMs = Date.parse('2027-03-10T12:00:00.000Z');
  useFakeClock(startMs);
  const [ada, bob] = [await signUp(), await signUp()];
  const create = createWithKey(ada);
  const order = { product: 'Orrery', metadata: { order: 7 } };
  const first = await create('order-7', order);
  expect(first.status).toBe(201);
  const retry = await create('order-7', order);
  expect([retry.status, retry.body]).toEqual([201, first.body]);
  expect(retry.headers.get('idempotency-replayed')).toBe('true');
  const names = [...retry.headers.keys()].filter((name) => name !== 'idempotency-replayed');
  expect(names).toEqual([...first.headers.keys()]);
  // Field order doesn't matter, and a session may retry an API key's call.
  const reordered = { metadata: { order: 7 }, product: 'Orrery' };
  expect((await create('order-7', reordered)).body).toEqual(first.body);
  const headers = { 'idempotency-key': 'order-7' };
  const retryBySession = await ada.asSession('POST', '/api/v1/licenses/create', order, headers);
  expect(retryBySession.body).toEqual(first.body);
  expect([await usageOf(ada), await licensesOf(ada)]).toEqual([1, [first.body]]);

  for (const other of [{ ...order, product: 'Astrolabe' }, {}]) {
    const conflict = await create('order-7', other);
    expect([conflict.status, conflict.body.error.code]).toEqual([409, 'idempotency_conflict']);
  }
  const second = await create('order-8', order);
  expect(second.body.id).not.toBe(first.body.id);
  // Another account can use the same idempotency key.
  const bobs = await createWithKey(bob)('order-7', order);
  expect([bobs.status, bobs.body.customer_email]).toEqual([201, bob.email]);
  expect(await usageOf(ada)).toBe(2);

  vi.setSystemTime(startMs + 24 * HOUR_MS - 1);
  expect((await create('order-7', order)).body.id).toBe(first.body.id);
  vi.setSystemTime(startMs + 24 * HOUR_MS);
  const nextDay = await create('order-7', { ...order, product: 'Astrolabe' });
  expect([nextDay.status, nextDay.body.product]).toEqual([201, 'Astrolabe']);
  expect((await create('order-7', { ...order, product: 'Astrolabe' })).body.id).toBe(nextDay.body.id);
  expect(await usageOf(ada)).toBe(3);
  // Expired idempotency keys are deleted: order-8 is gone.
  const storedKeys = accountsD1
    .prepare('SELECT key FROM idempotency_keys WHERE account_id = ?')
    .bind(ada.accountId);
  expect((await storedKeys.all()).results).toEqual([{ key: 'order-7' }]);
});

test('a retry after the license was deleted answers idempotency_conflict and creates nothing', async () => {
  const ada = await signUp();
  const create = createWithKey(ada);
  const { body } = await create('order-7', {});
  await ada.asKey('DELETE', `/api/v1/licenses/${body.id}`);
  const retry = await create('order-7', {});
  expect([retry.status, retry.body.error.code]).toEqual([409, 'idempotency_conflict']);
  expect(retry.body.error.message).toContain('Deleted');
  expect(await licensesOf(ada)).toEqual([]);
});

test('ten parallel retries create one license, count once and all return it', async () => {
  const ada = await signUp();
  const create = createWithKey(ada);
  const answers = await Promise.all(Array.from({ length: 10 }, () => create('race', { product: 'Orrery' })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  const [license] = await licensesOf(ada);
  for (const { body } of answers) expect(body).toEqual(license);
  expect([await usageOf(ada), (await licensesOf(ada)).length]).toEqual([1, 1]);

  // If two bodies are sent in parallel with one key, one succeeds and the other gets a conflict.
  const mixed = await Promise.all(
    Array.from({ length: 8 }, (_, i) => create('mixed', { product: i % 2 ? 'Orrery' : 'Astrolabe' })),
  );
  const createdIds = new Set(mixed.filter(({ status }) => status === 201).map(({ body }) => body.id));
  expect(createdIds.size).toBe(1);
  const conflicts = mixed.filter(({ status }) => status === 409).map(({ body }) => body.error.code);
  expect(conflicts).toEqual(Array.from({ length: 4 }, () => 'idempotency_conflict'));
  expect([await usageOf(ada), (await licensesOf(ada)).length]).toEqual([2, 2]);
});

test('parallel retries of the last call that the usage limit allows all return its license', async () => {
  const ada = await signUp();
  await setUsage(ada.accountId, 999);
  const create = createWithKey(ada);
  const answers = await Promise.all(Array.from({ length: 12 }, () => create('last', {})));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 201));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(await usageOf(ada)).toBe(1_000);
  expect((await create('one-more', {})).body.error.code).toBe('usage_limit_exceeded');
});

test('a failed call leaves its idempotency key free for a corrected call', async () => {
  const ada = await signUp();
  const create = createWithKey(ada);
  await ada.createLicense({ license_key: 'TAKEN-ALREADY' });
  expect((await create('order-9', { license_key: 'TAKEN-ALREADY' })).body.error.code).toBe(
    'license_key_taken',
  );
  expect((await create('order-9', { license_key: 'short' })).body.error.code).toBe('invalid_request');
  expect((await create('order-9', { license_key: 'FREE-STILL' })).status).toBe(201);
  expect(await usageOf(ada)).toBe(1);
});

describe('the idempotency key', () => {
  let ada: Customer;

  beforeAll(async () => {
    ada = await signUp();
  });

  test('may have 255 characters', async () => {
    expect((await createWithKey(ada)('k'.repeat(255), {})).status).toBe(201);
    expect(await usageOf(ada)).toBe(1);
  });

  test.for([
    { name: 'longer than 255 characters', key: 'k'.repeat(256) },
    { name: 'of two words', key: 'two words' },
    { name: 'empty', key: '' },
  ])('can’t be $name', async ({ key }) => {
    const { body } = await createWithKey(ada)(key, {});
    expect(body.error.details[0].path).toBe('idempotency-key');
  });
});

test('expired keys of an account that no longer creates licenses are deleted by other accounts’ creates', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  for (let i = 0; i < 15; i++) {
    await bob.asSession('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': `order-${i}` });
  }
  const age = 'UPDATE idempotency_keys SET created_at = created_at - ? WHERE account_id = ? AND key <> ?';
  await accountsD1
    .prepare(age)
    .bind(24 * HOUR_MS, bob.accountId, 'order-7')
    .run();
  for (const key of ['one', 'two']) expect((await createWithKey(ada)(key, {})).status).toBe(201);
  const left = accountsD1
    .prepare('SELECT key FROM idempotency_keys WHERE account_id = ?')
    .bind(bob.accountId);
  expect((await left.all()).results).toEqual([{ key: 'order-7' }]);
});
