import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { newSession, SESSION_MS } from '../../src/auth/sessions.ts';
import { sha256 } from '../../src/shared/crypto/hash.ts';
import { randomBase62 } from '../../src/shared/crypto/random.ts';
import { call, register } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { mistype } from '../http/security.ts';
import { firstD1, publicCtx } from '../support/databases.ts';

const statusWith = async (token: string) =>
  (await call('GET', '/api/account', { headers: { authorization: `Bearer ${token}` } })).status;

/** Stores a session as version 0.1 did: its token has no tag. */
const insertUntaggedSession = async (accountId: string, nowMs: number) => {
  const token = `lks_${randomBase62(43)}`;
  await firstD1
    .prepare('INSERT INTO sessions (token_hash, account_id, created_at, expires_at) VALUES (?, ?, ?, ?)')
    .bind(sha256(token), accountId, nowMs, nowMs + SESSION_MS)
    .run();
  return token;
};

test('a forged session token is refused without a query', async () => {
  const ada = await register();
  expect(await statusWith(ada.token)).toBe(200);
  const other = { ...env, API_KEY_SECRET: 'not-the-secret-of-this-service-0123' };
  const forged = newSession({ ...publicCtx, env: other }, ada.accountId, Date.now()).session.token;
  const { result, statements } = await recordStatements(async () => [
    await statusWith(mistype(ada.token)),
    await statusWith(`lks_${mistype(ada.token.slice(4, 20))}${ada.token.slice(20)}`),
    await statusWith(forged),
    await statusWith(`${ada.token}x`),
    await statusWith('nonsense'),
  ]);
  expect(result).toEqual([401, 401, 401, 401, 401]);
  expect(statements).toEqual([]);
});

test('a session of version 0.1 works until it expires or logs out', async () => {
  const startMs = Date.parse('2027-06-01T00:00:00.000Z');
  useFakeClock(startMs);
  const ada = await register();
  const tokens = [
    await insertUntaggedSession(ada.accountId, startMs),
    await insertUntaggedSession(ada.accountId, startMs),
  ];
  for (const token of tokens) expect(await statusWith(token)).toBe(200);
  expect(await statusWith(`lks_${'A'.repeat(43)}`)).toBe(401);

  const [first = '', second = ''] = tokens;
  await call('POST', '/api/logout', { headers: { authorization: `Bearer ${first}` } });
  expect(await statusWith(first)).toBe(401);
  vi.setSystemTime(startMs + SESSION_MS - 1);
  expect(await statusWith(second)).toBe(200);
  vi.setSystemTime(startMs + SESSION_MS);
  expect(await statusWith(second)).toBe(401);
});

test('once no session of version 0.1 is left, its token format is refused without a query', async () => {
  useFakeClock('2028-01-01T00:00:00.000Z');
  await firstD1.prepare('DELETE FROM sessions').run();
  expect(await statusWith(`lks_${'A'.repeat(43)}`)).toBe(401);
  const { result, statements } = await recordStatements(() => statusWith(`lks_${'B'.repeat(43)}`));
  expect([result, statements]).toEqual([401, []]);

  // The previous release may still be running, so this is checked again after a minute.
  const ada = await register();
  const token = await insertUntaggedSession(ada.accountId, Date.now());
  vi.advanceTimersByTime(60_000);
  expect(await statusWith(token)).toBe(200);
});

test('an account has at most 50 sessions, and a login ends the oldest', async () => {
  const startMs = Date.parse('2029-01-01T00:00:00.000Z');
  useFakeClock(startMs);
  const { accountId, email, password, token } = await register();
  const bob = await register();
  const tokens = Array.from({ length: 70 }, (_, i) => newSession(publicCtx, accountId, startMs + i));
  const insert = 'INSERT INTO sessions (token_hash, account_id, created_at, expires_at) VALUES (?, ?, ?, ?)';
  await firstD1.batch(
    tokens.map(({ row }) =>
      firstD1.prepare(insert).bind(row.tokenHash, row.accountId, row.createdAt, row.expiresAt),
    ),
  );
  vi.setSystemTime(startMs + 1_000);
  const login = await call('POST', '/api/login', { body: { email, password } });
  const count = firstD1.prepare('SELECT count(*) AS n FROM sessions WHERE account_id = ?');
  expect(await count.bind(accountId).first('n')).toBe(50);
  expect(await statusWith(login.body.session.token)).toBe(200);
  expect(await statusWith(token)).toBe(401);
  expect(await statusWith(tokens[20]?.session.token ?? '')).toBe(401);
  expect(await statusWith(tokens[21]?.session.token ?? '')).toBe(200);
  expect(await statusWith(bob.token)).toBe(200);
});
