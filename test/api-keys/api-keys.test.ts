import { beforeAll, describe, expect, test, vi } from 'vitest';
import { isoTime } from '../../src/shared/rules/dates.ts';
import { dumpDatabase, expectAbsent } from '../http/security.ts';
import { type Json, register, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const MINUTE_MS = 60_000;
const NOON = Date.parse('2027-03-10T12:00:00.000Z');

const rowOf = (id: string) => accountsD1.prepare('SELECT * FROM api_keys WHERE id = ?').bind(id).first();

test('an API key is created, listed masked, revealed, used and permanently deleted', async () => {
  useFakeClock(NOON);
  const ada = await register();
  const expiresAt = isoTime(NOON + 60 * MINUTE_MS);
  const created = await ada.asSession('POST', '/api/create-api-key', {
    name: '  Shop  ',
    scope: 'verify',
    expires_at: '2027-03-10T14:00:00+01:00',
  });
  expect(created.status).toBe(201);
  const { api_key: apiKey, ...shown } = created.body;
  expect(apiKey).toMatch(/^lk_live_[0-9A-Za-z]{60,}$/);
  expect(shown).toEqual({
    id: expect.stringMatching(/^key_[0-9A-Za-z]{20}$/),
    name: 'Shop',
    scope: 'verify',
    masked_key: `${apiKey.slice(0, 12)}********${apiKey.slice(-4)}`,
    created_at: isoTime(NOON),
    last_used_at: null,
    expires_at: expiresAt,
    allowed_ips: null,
  });
  const list = async (): Promise<Json> => (await ada.asSession('GET', '/api/api-keys')).body;
  expect(await list()).toEqual({ data: [shown], next_cursor: null });
  const path = `/api/api-keys/${shown.id}`;
  expect((await ada.asSession('GET', path)).body).toEqual({ ...shown, api_key: apiKey });

  vi.advanceTimersByTime(MINUTE_MS);
  const headers = { 'x-api-key': apiKey };
  const verify = () => ada.asSession('POST', '/api/v1/licenses/verify', { license_key: 'AAAAAAAA' }, headers);
  expect((await verify()).status).toBe(200);
  const used = { ...shown, last_used_at: isoTime(NOON + MINUTE_MS) };
  expect(await list()).toEqual({ data: [used], next_cursor: null });
  // A call that the key's scope forbids leaves last_used_at alone.
  vi.advanceTimersByTime(MINUTE_MS);
  expect((await ada.asSession('GET', '/api/account', undefined, headers)).status).toBe(403);
  expect((await ada.asSession('GET', path)).body).toEqual({ ...used, api_key: apiKey });

  const deleted = await ada.asSession('DELETE', path);
  expect([deleted.status, deleted.body]).toEqual([200, { id: shown.id, deleted: true }]);
  expect((await verify()).body.error.code).toBe('api_key_invalid');
  expect(await list()).toEqual({ data: [], next_cursor: null });
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await ada.asSession(method, path);
    expect([status, body.error.code]).toEqual([404, 'api_key_not_found']);
  }
  // The row stays, without anything that could verify or reveal the key.
  expect(await rowOf(shown.id)).toMatchObject({
    name: 'Shop',
    deleted_at: NOON + 2 * MINUTE_MS,
    sealed: '',
    fingerprint: '',
  });
});

test('the first verify after a deletion refuses the API key, even with verifies in flight', async () => {
  const ada = await signUp();
  const keys: Json[] = [];
  for (let i = 0; i < 5; i++) keys.push((await ada.asSession('POST', '/api/create-api-key', {})).body);
  for (const { id, api_key: apiKey } of keys) {
    const inFlight = Promise.all(Array.from({ length: 5 }, () => ada.verify('AAAAAAAA', apiKey)));
    await ada.asSession('DELETE', `/api/api-keys/${id}`);
    expect((await ada.verify('AAAAAAAA', apiKey)).status).toBe(403);
    for (const { status } of await inFlight) expect([200, 403]).toContain(status);
  }
});

test('two parallel deletions of one API key answer 200 or 404, never an error', async () => {
  const ada = await signUp();
  const key = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const deletions = await Promise.all([1, 2].map(() => ada.asSession('DELETE', `/api/api-keys/${key.id}`)));
  expect(deletions.map(({ status }) => status)).toContain(200);
  for (const { status } of deletions) expect([200, 404]).toContain(status);
  expect((await ada.verify('AAAAAAAA', key.api_key)).status).toBe(403);
});

test('an API key can delete itself and is refused afterwards', async () => {
  const ada = await signUp();
  expect((await ada.asKey('DELETE', `/api/api-keys/${ada.apiKeyId}`)).status).toBe(200);
  expect((await ada.asKey('GET', '/api/account')).body.error.code).toBe('api_key_invalid');
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
});

test('an API key works until the millisecond before it expires', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const expiresAt = NOON + 10 * MINUTE_MS;
  const created = await ada.asSession('POST', '/api/create-api-key', { expires_at: isoTime(expiresAt) });
  const status = async () => (await ada.verify('AAAAAAAA', created.body.api_key)).status;
  expect(await status()).toBe(200);
  vi.setSystemTime(expiresAt - 1);
  expect(await status()).toBe(200);
  vi.setSystemTime(expiresAt);
  expect(await status()).toBe(403);
  const [listed] = (await ada.asSession('GET', '/api/api-keys')).body.data;
  expect(listed).toMatchObject({
    id: created.body.id,
    expires_at: isoTime(expiresAt),
    last_used_at: isoTime(expiresAt - 1),
  });
  expect((await ada.verify('AAAAAAAA')).status).toBe(200);
});

test('API keys are listed newest first, in stable pages, for their own account only', async () => {
  const [ada, bob] = [await register(), await signUp()];
  const names = ['one', 'two', 'three', 'four', 'five'];
  for (const name of names) await ada.asSession('POST', '/api/create-api-key', { name });
  const page = async (query: string) => (await ada.asSession('GET', `/api/api-keys${query}`)).body;
  const namesOf = ({ data }: Json): string[] => data.map(({ name }: Json) => name);
  const all = await page('');
  expect(namesOf(all)).toEqual(names.toReversed());
  expect(all.next_cursor).toBeNull();

  const first = await page('?limit=2');
  expect([namesOf(first), first.next_cursor]).toEqual([['five', 'four'], first.data[1].id]);
  // Keys created or deleted between two requests don't shift the pages.
  await ada.asSession('POST', '/api/create-api-key', { name: 'six' });
  await ada.asSession('DELETE', `/api/api-keys/${first.next_cursor}`);
  const second = await page(`?limit=2&cursor=${first.next_cursor}`);
  expect(namesOf(second)).toEqual(['three', 'two']);
  const last = await page(`?limit=2&cursor=${second.next_cursor}`);
  expect([namesOf(last), last.next_cursor]).toEqual([['one'], null]);
  expect((await page('?limit=5')).next_cursor).toBeNull();

  expect(namesOf((await bob.asSession('GET', '/api/api-keys')).body)).toEqual(['first']);
  expect(JSON.stringify(all)).not.toContain('api_key"');
});

describe('POST /api/create-api-key', () => {
  let ada: Awaited<ReturnType<typeof register>>;

  beforeAll(async () => {
    ada = await register();
  });

  const listedKeys = async (): Promise<Json[]> => (await ada.asSession('GET', '/api/api-keys')).body.data;

  test.for([
    { name: 'no body', body: undefined },
    { name: 'an empty body', body: {} },
    { name: 'null fields', body: { name: null, expires_at: null } },
  ])('creates an unnamed full-access API key that never expires from $name', async ({ body }) => {
    const { status, body: key } = await ada.asSession('POST', '/api/create-api-key', body);
    expect([status, key.name, key.scope, key.expires_at]).toEqual([201, null, 'full', null]);
    expect((await listedKeys())[0]?.id).toBe(key.id);
  });

  test.for([
    { name: 'a blank name', field: 'name', body: { name: '  ' } },
    { name: 'a name of 101 characters', field: 'name', body: { name: 'x'.repeat(101) } },
    { name: 'an unknown scope', field: 'scope', body: { scope: 'admin' } },
    { name: 'a past expiry', field: 'expires_at', body: { expires_at: '2020-01-01T00:00:00Z' } },
    { name: 'a date without a time', field: 'expires_at', body: { expires_at: '2090-01-01' } },
    { name: 'a client-supplied key', field: 'api_key', body: { api_key: 'lk_live_mine' } },
  ])('rejects $name, names the field $field and creates no API key', async ({ field, body }) => {
    const before = await listedKeys();
    const { status, body: response } = await ada.asSession('POST', '/api/create-api-key', body);
    expect([status, response.error.code, response.error.details[0].path]).toEqual([
      400,
      'invalid_request',
      field,
    ]);
    expect(await listedKeys()).toEqual(before);
  });

  test('rejects an expiry of now', async () => {
    useFakeClock(Date.now());
    const { status, body } = await ada.asSession('POST', '/api/create-api-key', {
      expires_at: isoTime(Date.now()),
    });
    expect([status, body.error.code, body.error.details[0].path]).toEqual([
      400,
      'invalid_request',
      'expires_at',
    ]);
  });
});

test('the database holds neither an API key nor its secret part in plain text', async () => {
  const ada = await signUp();
  await ada.asKey('GET', '/api/account');
  const { body: second } = await ada.asKey('POST', '/api/create-api-key', { name: 'second' });
  const stored = await dumpDatabase();
  expect(stored).toContain(second.masked_key);
  // The secret part follows the prefix and the two ids of 20 characters each.
  const keys: string[] = [ada.apiKey, second.api_key];
  expectAbsent(stored, [
    ...keys,
    ...keys.map((key) => key.slice(48)),
    ...keys.map((key) => key.slice(48, 70)),
  ]);
  expect(await rowOf(ada.apiKeyId)).toMatchObject({
    sealed: expect.stringMatching(/^k1\.[\w-]{120,}$/),
    fingerprint: expect.stringMatching(/^[\w-]{20,}$/),
  });
});
