import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { everythingInD1, expectNone } from '../http/security.ts';
import { type Json, register, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const MINUTE_MS = 60_000;
const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const iso = (ms: number) => new Date(ms).toISOString();

const row = (id: string) => env.DB.prepare('SELECT * FROM api_keys WHERE id = ?').bind(id).first();

test('a key is made, shown masked, revealed, used, and deleted for good', async () => {
  useFakeClock(NOON);
  const ada = await register();
  const expiresAt = iso(NOON + 60 * MINUTE_MS);
  const made = await ada.asSession('POST', '/api/create-api-key', {
    name: '  Shop  ',
    scope: 'verify',
    expires_at: '2027-03-10T14:00:00+01:00',
  });
  expect(made.status).toBe(201);
  const { api_key: apiKey, ...shown } = made.body;
  expect(apiKey).toMatch(/^lk_live_[0-9A-Za-z]{60,}$/);
  expect(shown).toEqual({
    id: expect.stringMatching(/^key_[0-9A-Za-z]{20}$/),
    name: 'Shop',
    scope: 'verify',
    masked_key: `${apiKey.slice(0, 12)}********${apiKey.slice(-4)}`,
    created_at: iso(NOON),
    last_used_at: null,
    expires_at: expiresAt,
  });
  const list = async (): Promise<Json> => (await ada.asSession('GET', '/api/api-keys')).body;
  expect(await list()).toEqual({ data: [shown], next_cursor: null });
  const path = `/api/api-keys/${shown.id}`;
  expect((await ada.asSession('GET', path)).body).toEqual({ ...shown, api_key: apiKey });

  vi.advanceTimersByTime(MINUTE_MS);
  const headers = { 'x-api-key': apiKey };
  const verify = () => ada.asSession('POST', '/api/v1/licenses/verify', { license_key: 'AAAAAAAA' }, headers);
  expect((await verify()).status).toBe(200);
  const used = { ...shown, last_used_at: iso(NOON + MINUTE_MS) };
  expect(await list()).toEqual({ data: [used], next_cursor: null });
  // What it may not do is no use of it.
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
  // The fact stays, without anything that could verify or reveal the key.
  expect(await row(shown.id)).toMatchObject({
    name: 'Shop',
    deleted_at: NOON + 2 * MINUTE_MS,
    sealed: '',
    fingerprint: '',
  });
});

test('a deleted key is refused by the very next verify, however many are under way', async () => {
  const ada = await signUp();
  const keys: Json[] = [];
  for (let i = 0; i < 5; i++) keys.push((await ada.asSession('POST', '/api/create-api-key', {})).body);
  for (const { id, api_key: apiKey } of keys) {
    const under = Promise.all(Array.from({ length: 5 }, () => ada.verify('AAAAAAAA', apiKey)));
    await ada.asSession('DELETE', `/api/api-keys/${id}`);
    expect((await ada.verify('AAAAAAAA', apiKey)).status).toBe(403);
    for (const { status } of await under) expect([200, 403]).toContain(status);
  }
  // Of two who delete one key at once, none is told of a fault.
  const last = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const both = await Promise.all([1, 2].map(() => ada.asSession('DELETE', `/api/api-keys/${last.id}`)));
  expect(both.map(({ status }) => status)).toContain(200);
  for (const { status } of both) expect([200, 404]).toContain(status);
  expect((await ada.verify('AAAAAAAA', last.api_key)).status).toBe(403);
});

test('a key may delete itself, and is refused from then on', async () => {
  const ada = await signUp();
  expect((await ada.asKey('DELETE', `/api/api-keys/${ada.apiKeyId}`)).status).toBe(200);
  expect((await ada.asKey('GET', '/api/account')).body.error.code).toBe('api_key_invalid');
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
});

test('a key works until the very moment at which it expires', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const expiresAt = NOON + 10 * MINUTE_MS;
  const made = await ada.asSession('POST', '/api/create-api-key', { expires_at: iso(expiresAt) });
  const status = async () => (await ada.verify('AAAAAAAA', made.body.api_key)).status;
  expect(await status()).toBe(200);
  vi.setSystemTime(expiresAt - 1);
  expect(await status()).toBe(200);
  vi.setSystemTime(expiresAt);
  expect(await status()).toBe(403);
  const [listed] = (await ada.asSession('GET', '/api/api-keys')).body.data;
  expect(listed).toMatchObject({
    id: made.body.id,
    expires_at: iso(expiresAt),
    last_used_at: iso(expiresAt - 1),
  });
  expect((await ada.verify('AAAAAAAA')).status).toBe(200);
});

test('keys are listed newest first, a page at a time, and by their own account alone', async () => {
  const [ada, bob] = [await register(), await signUp()];
  const names = ['one', 'two', 'three', 'four', 'five'];
  for (const name of names) await ada.asSession('POST', '/api/create-api-key', { name });
  const page = async (query: string) => (await ada.asSession('GET', `/api/api-keys${query}`)).body;
  const namesOf = ({ data }: Json): string[] => data.map(({ name }: Json) => name);
  const whole = await page('');
  expect(namesOf(whole)).toEqual(names.toReversed());
  expect(whole.next_cursor).toBeNull();

  const first = await page('?limit=2');
  expect([namesOf(first), first.next_cursor]).toEqual([['five', 'four'], first.data[1].id]);
  // What is made or deleted meanwhile shifts no page.
  await ada.asSession('POST', '/api/create-api-key', { name: 'six' });
  await ada.asSession('DELETE', `/api/api-keys/${first.next_cursor}`);
  const second = await page(`?limit=2&cursor=${first.next_cursor}`);
  expect(namesOf(second)).toEqual(['three', 'two']);
  const last = await page(`?limit=2&cursor=${second.next_cursor}`);
  expect([namesOf(last), last.next_cursor]).toEqual([['one'], null]);
  expect((await page('?limit=5')).next_cursor).toBeNull();

  expect(namesOf((await bob.asSession('GET', '/api/api-keys')).body)).toEqual(['first']);
  expect(JSON.stringify(whole)).not.toContain('api_key"');
});

test('a key of no name is a full key that never expires; what does not fit is refused', async () => {
  const ada = await register();
  for (const body of [undefined, {}, { name: null, expires_at: null }]) {
    const { status, body: made } = await ada.asSession('POST', '/api/create-api-key', body);
    expect([status, made.name, made.scope, made.expires_at]).toEqual([201, null, 'full', null]);
  }
  const unfit: [field: string, body: object][] = [
    ['name', { name: '  ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['scope', { scope: 'admin' }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: iso(Date.now()) }],
    ['expires_at', { expires_at: '2090-01-01' }],
    ['api_key', { api_key: 'lk_live_mine' }],
  ];
  for (const [field, body] of unfit) {
    const { status, body: said } = await ada.asSession('POST', '/api/create-api-key', body);
    expect([status, said.error.code, said.error.details[0].path]).toEqual([400, 'invalid_request', field]);
  }
  expect((await ada.asSession('GET', '/api/api-keys')).body.data).toHaveLength(3);
});

test('the database never holds a key as it is, nor its secret part', async () => {
  const ada = await signUp();
  await ada.asKey('GET', '/api/account');
  const { body: second } = await ada.asKey('POST', '/api/create-api-key', { name: 'second' });
  const stored = await everythingInD1();
  expect(stored).toContain(second.masked_key);
  // After the prefix and the two ids, 20 letters each, comes what only the caller may know.
  const keys: string[] = [ada.apiKey, second.api_key];
  expectNone(stored, [...keys, ...keys.map((key) => key.slice(48)), ...keys.map((key) => key.slice(48, 70))]);
  expect(await row(ada.apiKeyId)).toMatchObject({
    sealed: expect.stringMatching(/^k1\.[\w-]{120,}$/),
    fingerprint: expect.stringMatching(/^[\w-]{20,}$/),
  });
});
