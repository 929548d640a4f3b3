import { expect, test } from 'vitest';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { call, freshAddress, register } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';

const login = (email: string, password: string) =>
  call('POST', '/api/login', { body: { email, password }, headers: { 'cf-connecting-ip': freshAddress() } });

const storedHash = async (accountId: string) => {
  const statement = firstD1.prepare('SELECT password_hash FROM accounts WHERE id = ?').bind(accountId);
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
  await firstD1.prepare('UPDATE accounts SET password_hash = ? WHERE id = ?').bind(old, accountId).run();
  expect((await login(email, 'wrong horse battery')).status).toBe(401);
  expect(await storedHash(accountId)).toBe(old);
  expect((await login(email, password)).status).toBe(200);
  const renewed = await storedHash(accountId);
  expect(renewed).toMatch(/^scrypt\$16384\$8\$5\$/);
  expect(renewed).not.toBe(current);
  expect((await login(email, password)).status).toBe(200);
  expect((await login(email, 'wrong horse battery')).status).toBe(401);
});

test('an unknown email and a wrong password get the same response in the same time', async () => {
  const { email } = await register();
  const timedLogin = async (address: string) => {
    const startMs = performance.now();
    const answer = await login(address, 'wrong horse battery');
    return { ms: performance.now() - startMs, answer };
  };
  const fastest = { known: Infinity, unknown: Infinity };
  for (let i = 0; i < 3; i++) {
    const known = await timedLogin(email);
    const unknown = await timedLogin('nobody@example.com');
    fastest.known = Math.min(fastest.known, known.ms);
    fastest.unknown = Math.min(fastest.unknown, unknown.ms);
    for (const { answer } of [known, unknown]) {
      expect(answer.body.error).toEqual({
        code: 'invalid_credentials',
        message: 'Wrong Email or Password',
        request_id: answer.headers.get('x-request-id'),
      });
    }
    const statusAndHeaderNames = ({ answer }: typeof known) => [answer.status, ...answer.headers.keys()];
    expect(statusAndHeaderNames(unknown)).toEqual(statusAndHeaderNames(known));
  }
  const ratio = fastest.unknown / fastest.known;
  expect(ratio).toBeGreaterThan(0.5);
  expect(ratio).toBeLessThan(2);
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
