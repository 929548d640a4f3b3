import { describe, expect, test, vi } from 'vitest';
import { HOUR_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { type Json, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

/** A customer and a key of theirs, with calls that rotate it and use a key. */
const openKey = async (fields: Json = { name: 'Shop', scope: 'verify' }) => {
  useFakeClock(NOON);
  const ada = await signUp();
  const { body: old } = await ada.asSession('POST', '/api/create-api-key', fields);
  const rotate = (body?: Json) => ada.asSession('POST', `/api/api-keys/${old.id}/rotate`, body);
  const status = async (key: string) => (await ada.verify('AAAAAAAA', key)).status;
  const listed = async (): Promise<Json[]> => (await ada.asSession('GET', '/api/api-keys')).body.data;
  return { ada, old, rotate, status, listed };
};

describe('POST /api/api-keys/{id}/rotate', () => {
  test('creates a key with the same settings, and both work until the overlap ends', async () => {
    const { old, rotate, status, listed } = await openKey();
    expect(await status(old.api_key)).toBe(200);
    const { status: answered, body: next } = await rotate();
    expect(answered).toBe(201);
    expect(next).toMatchObject({
      name: 'Shop',
      scope: 'verify',
      expires_at: null,
      created_at: isoTime(NOON),
    });
    expect(next.id).not.toBe(old.id);
    expect((await listed()).slice(0, 2)).toMatchObject([
      { id: next.id, expires_at: null },
      { id: old.id, expires_at: isoTime(NOON + 24 * HOUR_MS) },
    ]);
    vi.setSystemTime(NOON + 24 * HOUR_MS - 1);
    expect([await status(old.api_key), await status(next.api_key)]).toEqual([200, 200]);
    vi.setSystemTime(NOON + 24 * HOUR_MS);
    expect([await status(old.api_key), await status(next.api_key)]).toEqual([403, 200]);
  });

  test('ends the old key at once without an overlap', async () => {
    const { old, rotate, status } = await openKey();
    expect(await status(old.api_key)).toBe(200);
    const { body: next } = await rotate({ overlap_hours: 0 });
    expect([await status(old.api_key), await status(next.api_key)]).toEqual([403, 200]);
  });

  test('never lets the old key live longer than before', async () => {
    const expiresAt = isoTime(NOON + HOUR_MS);
    const { ada, old, rotate, listed } = await openKey({ expires_at: expiresAt });
    const ends = async () => (await listed()).find(({ id }) => id === old.id)?.expires_at;
    await rotate({ overlap_hours: 168 });
    expect(await ends()).toBe(expiresAt);
    vi.setSystemTime(NOON + HOUR_MS / 2);
    await ada.prove();
    // Two rotations at once create two keys, and the shorter overlap holds.
    const [first, second] = await Promise.all([rotate({ overlap_hours: 0 }), rotate()]);
    expect([first?.status, second?.status].filter((each) => each === 201).length).toBeGreaterThan(0);
    expect(Date.parse(await ends())).toBeLessThan(NOON + HOUR_MS / 2);
  });

  test('lets a key rotate itself, and records it', async () => {
    const { ada } = await openKey();
    const { body: next } = await ada.asKey('POST', `/api/api-keys/${ada.apiKeyId}/rotate`, {
      overlap_hours: 2,
    });
    expect((await ada.asKey('GET', '/api/account', undefined, { 'x-api-key': next.api_key })).status).toBe(
      200,
    );
    const { results } = await accountsD1
      .prepare(
        "SELECT target, actor_id, details FROM audit_log WHERE account_id = ? AND action = 'api_key.rotate'",
      )
      .bind(ada.accountId)
      .all();
    expect(results).toEqual([
      {
        target: ada.apiKeyId,
        actor_id: ada.apiKeyId,
        details: JSON.stringify({ new_key: next.id, overlap_hours: 2 }),
      },
    ]);
  });

  test('refuses a key that has expired, was deleted or is another account’s', async () => {
    const { ada, old, rotate, listed } = await openKey({ expires_at: isoTime(NOON + HOUR_MS) });
    const other = await signUp();
    const foreign = await other.asSession('POST', `/api/api-keys/${old.id}/rotate`);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'api_key_not_found']);
    vi.setSystemTime(NOON + HOUR_MS);
    await ada.prove();
    const expired = await rotate();
    expect([expired.status, expired.body.error.code]).toEqual([409, 'invalid_transition']);
    await ada.asSession('DELETE', `/api/api-keys/${old.id}`);
    expect((await rotate()).body.error.code).toBe('api_key_not_found');
    expect(await listed()).toHaveLength(1);
  });

  test.for([-1, 169, 1.5, '24'])('rejects an overlap of %j hours', async (hours) => {
    const { rotate } = await openKey();
    const { status, body } = await rotate({ overlap_hours: hours });
    expect([status, body.error.details[0].path]).toEqual([400, 'overlap_hours']);
  });
});
