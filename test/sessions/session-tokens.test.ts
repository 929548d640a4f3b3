import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { sessions } from '../../src/db/schema.ts';
import { newSession } from '../../src/sessions/sessions.ts';
import { mistype } from '../http/security.ts';
import { call, register } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { withToken } from '../support/sign-in.ts';

const statusWith = async (token: string) => (await withToken(token)).status;

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
    await statusWith(ada.token.slice(0, 47)),
    await statusWith('nonsense'),
  ]);
  expect(result).toEqual([401, 401, 401, 401, 401, 401]);
  expect(statements).toEqual([]);
});

test('an account has at most 50 sessions, and a login ends the oldest', async () => {
  const startMs = Date.parse('2029-01-01T00:00:00.000Z');
  useFakeClock(startMs);
  const { accountId, email, password, token } = await register();
  const bob = await register();
  const tokens = Array.from({ length: 70 }, (_, i) => newSession(publicCtx, accountId, startMs + i));
  for (const { row } of tokens) await publicCtx.firstDb.insert(sessions).values(row);
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
