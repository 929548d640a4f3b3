import { expect, test, vi } from 'vitest';
import { HOUR_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { type Customer, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

/** Stores copies of the account's first key. */
const insertKeys = async ({ accountId }: Customer, count: number, expiresAt: number | null = null) => {
  const names = 'account_id, name, scope, fingerprint, sealed, secret_id, masked_key, created_at';
  const insert = accountsD1.prepare(
    `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
    INSERT INTO api_keys (id, expires_at, ${names})
    SELECT 'key_' || hex(randomblob(8)) || i, ?3, ${names} FROM n CROSS JOIN (SELECT * FROM api_keys WHERE account_id = ?1 LIMIT 1)`,
  );
  await insert.bind(accountId, count, expiresAt).run();
};

const countKeys = ({ accountId }: Customer, condition = 'deleted_at IS NULL') =>
  accountsD1
    .prepare(`SELECT count(*) AS n FROM api_keys WHERE account_id = ? AND ${condition}`)
    .bind(accountId)
    .first<number>('n');

const create = (ada: Customer, fields: object = {}) => ada.asSession('POST', '/api/create-api-key', fields);

test('an account has at most 100 live API keys, also if they are created in parallel', async () => {
  const ada = await signUp();
  await insertKeys(ada, 90);
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(ada)));
  expect(tallyOf(answers)).toEqual({ '201 ok': 9, '403 limit_reached': 11 });
  expect(answers.find(({ status }) => status === 403)?.body.error).toMatchObject({
    message: 'An account has at most 100 live API keys. Delete one first.',
    details: [{ path: 'api_keys', message: expect.stringContaining('100') }],
  });
  expect(await countKeys(ada)).toBe(100);
  expect(outcomeOf(await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`))).toBe('200 ok');
  expect(outcomeOf(await create(ada))).toBe('201 ok');
  expect(outcomeOf(await create(ada))).toBe('403 limit_reached');
});

test('a refused key is not audited, and calls go on', async () => {
  const ada = await signUp();
  await insertKeys(ada, 99);
  expect(outcomeOf(await create(ada))).toBe('403 limit_reached');
  const { data } = (await ada.asSession('GET', '/api/audit-log?action=api_key.create')).body;
  expect(data).toHaveLength(1);
  const license = await ada.createLicense();
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
});

test('an account with 100 live keys can rotate one without an overlap only', async () => {
  const ada = await signUp();
  await insertKeys(ada, 99);
  const rotate = (id: string, overlap_hours: number) =>
    ada.asSession('POST', `/api/api-keys/${id}/rotate`, { overlap_hours });
  expect(outcomeOf(await rotate(ada.apiKeyId, 24))).toBe('403 limit_reached');
  const rotated = await rotate(ada.apiKeyId, 0);
  expect(outcomeOf(rotated)).toBe('201 ok');
  const again = await Promise.all([rotate(rotated.body.id, 0), rotate(rotated.body.id, 24)]);
  expect(again.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
  const live = `deleted_at IS NULL AND (expires_at IS NULL OR expires_at > ${Date.now()})`;
  expect(await countKeys(ada, live)).toBe(100);
});

test('expired keys are not live, and of many only the newest 100 stay', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  await insertKeys(ada, 250, NOON + HOUR_MS);
  expect(outcomeOf(await create(ada))).toBe('403 limit_reached');
  vi.setSystemTime(NOON + HOUR_MS);
  await ada.prove();
  expect(outcomeOf(await create(ada, { expires_at: isoTime(NOON + 2 * HOUR_MS) }))).toBe('201 ok');
  expect(await countKeys(ada)).toBe(102);
  expect(await countKeys(ada, "deleted_at IS NOT NULL AND sealed = '' AND fingerprint = ''")).toBe(150);
});

test('revealing a key again within the hour leaves no other entry', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const path = `/api/api-keys/${ada.apiKeyId}`;
  const entries = async () =>
    (await ada.asSession('GET', '/api/audit-log?action=api_key.reveal')).body.data as object[];
  const answers = await Promise.all(Array.from({ length: 40 }, () => ada.asSession('GET', path)));
  expect(tallyOf(answers)).toEqual({ '200 ok': 40 });
  expect(await entries()).toMatchObject([{ target: ada.apiKeyId, actor: { kind: 'session' } }]);
  // By another caller, and of another key.
  await ada.asKey('GET', path);
  const { body: other } = await create(ada);
  await ada.asSession('GET', `/api/api-keys/${other.id}`);
  expect(await entries()).toHaveLength(3);
  vi.setSystemTime(NOON + HOUR_MS);
  await ada.prove();
  await ada.asSession('GET', path);
  expect(await entries()).toHaveLength(4);
});
