import { beforeAll, expect, test, vi } from 'vitest';
import { hashPassword, unknownAccountHash } from '../../src/users/passwords.ts';
import { call, register } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { firstD1 } from '../support/databases.ts';
import { useShippedHashCost } from '../support/hash-cost.ts';
import { login } from '../support/sign-in.ts';

beforeAll(useShippedHashCost);

const storedHash = async (accountId: string) => {
  const statement = firstD1.prepare('SELECT password_hash FROM users WHERE account_id = ?').bind(accountId);
  return (await statement.first<string>('password_hash')) ?? '';
};

test('a login rehashes a password stored with weaker parameters and keeps a current hash', async () => {
  const { email, password, accountId } = await register();
  const current = await storedHash(accountId);
  expect(current).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/);
  expect((await login(email, password)).status).toBe(200);
  expect(await storedHash(accountId)).toBe(current);

  const old = await hashPassword(password, { N: 2 ** 10, r: 8, p: 1 });
  expect(old).toMatch(/^scrypt\$1024\$8\$1\$/);
  await firstD1.prepare('UPDATE users SET password_hash = ? WHERE account_id = ?').bind(old, accountId).run();
  expect((await login(email, 'wrong horse battery')).status).toBe(401);
  expect(await storedHash(accountId)).toBe(old);
  expect((await login(email, password)).status).toBe(200);
  const renewed = await storedHash(accountId);
  expect(renewed).toMatch(/^scrypt\$16384\$8\$5\$/);
  expect(renewed).not.toBe(current);
  expect((await login(email, password)).status).toBe(200);
  expect((await login(email, 'wrong horse battery')).status).toBe(401);
});

/** The parameters of a stored hash, and the lengths of its salt and hash: everything that its cost depends on. */
const costOf = (stored: string) => stored.split('$').map((part, i) => (i < 4 ? part : part.length));

test('an unknown email and a wrong password get the same response after the same work', async () => {
  const { email, accountId } = await register();
  const twoFactor = await register();
  await firstD1
    .prepare('UPDATE users SET two_factor_enabled_at = 1 WHERE account_id = ?')
    .bind(twoFactor.accountId)
    .run();
  expect(costOf(unknownAccountHash())).toEqual(costOf(await storedHash(accountId)));
  // Only hashing normalizes to NFKC, once for each hash, so these calls count the hashes. They are the same on a busy
  // machine, unlike the time that they take.
  const normalize = vi.spyOn(String.prototype, 'normalize');
  const observedLogin = async (address: string) => {
    normalize.mockClear();
    const { result: answer, statements } = await recordStatements(() =>
      login(address, 'wrong horse battery'),
    );
    const hashes = normalize.mock.calls.filter(([form]) => form === 'NFKC').length;
    expect(answer.body.error).toEqual({
      code: 'invalid_credentials',
      message: 'Wrong Email or Password',
      request_id: answer.headers.get('x-request-id'),
    });
    const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id');
    return { status: answer.status, headers, statements, hashes };
  };
  const known = await observedLogin(email);
  expect(await observedLogin('nobody@example.com')).toEqual(known);
  expect(await observedLogin(twoFactor.email)).toEqual(known);
  expect(known.hashes).toBe(1);
  normalize.mockRestore();
});

test('a password typed with decomposed accents matches its composed form', async () => {
  const composed = 'caf\u00e9 cr\u00e8me br\u00fbl\u00e9e';
  const decomposed = composed.normalize('NFD');
  expect(decomposed).not.toBe(composed);
  const email = 'composed@example.com';
  await call('POST', '/api/register', { body: { email, password: composed } });
  expect((await login(email, decomposed)).status).toBe(200);
  expect((await login(email, composed.toUpperCase())).status).toBe(401);
  expect((await login(email, `${composed} `)).status).toBe(401);
});
