import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { signIn } from '../../src/sign-in/sign-in.ts';
import { getUser } from '../../src/users/user.ts';
import { captureLogs, dumpDatabase, expectAbsent } from '../http/security.ts';
import { freshAddress, ORIGIN, register, tallyOf } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { lastMailTo, mailsTo } from '../support/mails.ts';
import { asVisitor, login, withToken } from '../support/sign-in.ts';
import { tokenTo } from '../support/tokens.ts';
import { waitUntil } from '../support/wait-until.ts';

const NEW_PASSWORD = 'a new horse battery';

const reset = (token: string) => asVisitor('/api/reset-password', { token, password: NEW_PASSWORD });
const statusWith = async (token: string) => (await withToken(token)).status;

/** A new account that has asked for a reset, and the token that it got. */
const forgetful = async () => {
  const ada = await register();
  await asVisitor('/api/forgot-password', { email: ada.email });
  return { ...ada, resetToken: await tokenTo(ada.email) };
};

const untilTold = (email: string, about = 'Your password has changed') =>
  waitUntil(() => mailsTo(email).some(({ subject }) => subject === about));

test('forgot-password answers the same for a known, an unknown, and a throttled email, and hashes nothing', async () => {
  const ada = await register();
  const normalize = vi.spyOn(String.prototype, 'normalize');
  const ask = async (email: string) => {
    const { status, body, headers } = await asVisitor('/api/forgot-password', { email });
    return { status, body, names: [...headers.keys()] };
  };
  const known = await ask(ada.email);
  expect(known).toMatchObject({ status: 202, body: { accepted: true } });
  expect(await ask('nobody@example.com')).toEqual(known);
  for (let i = 2; i <= 6; i++) expect(await ask(ada.email)).toEqual(known);
  expect(normalize.mock.calls.filter(([form]) => form === 'NFKC')).toEqual([]);
  normalize.mockRestore();
  // At most five emails an hour.
  await lastMailTo(ada.email, 5);
  expect(mailsTo('nobody@example.com')).toEqual([]);
});

test('forgot-password answers without waiting for D1, so that its time doesn’t depend on the email', async () => {
  const ada = await register();
  const never = () => new Promise<never>(() => {});
  const statement = { bind: () => statement, all: never, first: never, raw: never, run: never };
  const DB = { prepare: vi.fn<() => unknown>(() => statement), batch: vi.fn<() => unknown>(never) };
  for (const email of [ada.email, 'nobody@example.com']) {
    const request = new Request(`${ORIGIN}/api/forgot-password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cf-connecting-ip': freshAddress() },
      body: JSON.stringify({ email }),
    });
    const environment = { ...env, DB: DB as unknown as D1Database };
    const response = await worker.fetch(request, environment, createExecutionContext());
    expect(await response.json()).toEqual({ accepted: true });
  }
  expect(DB.prepare.mock.calls.length + DB.batch.mock.calls.length).toBeGreaterThan(0);
});

test('a reset token works once in 20 parallel calls, ends every session, and signs in', async () => {
  const log = captureLogs();
  const ada = await forgetful();
  const { token: other } = (await login(ada.email, ada.password)).body.session;
  const before = await dumpDatabase();
  const answers = await Promise.all(Array.from({ length: 20 }, () => reset(ada.resetToken)));
  expect(tallyOf(answers)).toEqual({ '200 ok': 1, '400 invalid_token': 19 });
  const winner = answers.find(({ status }) => status === 200)!.body;
  expect(winner.account).toMatchObject({ id: ada.accountId, email_verified: true });
  expect([await statusWith(ada.token), await statusWith(other)]).toEqual([401, 401]);
  expect(await statusWith(winner.session.token)).toBe(200);
  expect(tallyOf([await login(ada.email, ada.password), await reset(ada.resetToken)])).toEqual({
    '401 invalid_credentials': 1,
    '400 invalid_token': 1,
  });
  expect((await login(ada.email, NEW_PASSWORD)).status).toBe(200);
  await untilTold(ada.email, 'The account with your email address is yours');

  const { token } = winner.session;
  const audit = await withToken(token, 'GET', '/api/audit-log?action=password.reset');
  expect(audit.body.data).toHaveLength(1);
  const secrets = [ada.resetToken, NEW_PASSWORD, token];
  expectAbsent(log.stop(), secrets);
  expectAbsent(before + (await dumpDatabase()), secrets);
});

test('a reset token expires after an hour', async () => {
  useFakeClock('2027-05-01T12:00:00.000Z');
  const ada = await forgetful();
  vi.advanceTimersByTime(HOUR_MS);
  expect(tallyOf([await reset(ada.resetToken)])).toEqual({ '400 invalid_token': 1 });
  expect((await login(ada.email, ada.password)).status).toBe(200);
});

test('a login that checked the password before a reset starts no session', async () => {
  const ada = await forgetful();
  const user = await getUser(publicCtx, ada.accountId);
  expect((await reset(ada.resetToken)).status).toBe(200);
  const client = { ip: '', origin: '', userAgent: null, previousToken: null, browserToken: null };
  await expect(signIn(publicCtx, user, client, 'login', [])).rejects.toThrow('invalid_credentials');
  await expect(
    signIn(publicCtx, await getUser(publicCtx, ada.accountId), client, 'login', []),
  ).resolves.toBeDefined();
});

test('change-password needs the current password and ends every other session and every reset token', async () => {
  const ada = await forgetful();
  const { token: other } = (await login(ada.email, ada.password)).body.session;
  const change = (current_password: string) =>
    ada.asSession('POST', '/api/change-password', { current_password, password: NEW_PASSWORD });
  const refused = await change('wrong horse battery');
  expect([refused.status, refused.body.error.message]).toEqual([401, 'Wrong Password']);
  expect(await statusWith(other)).toBe(200);

  expect((await change(ada.password)).body).toEqual({ changed: true });
  expect([await statusWith(other), await statusWith(ada.token)]).toEqual([401, 200]);
  expect(tallyOf([await reset(ada.resetToken)])).toEqual({ '400 invalid_token': 1 });
  expect((await login(ada.email, NEW_PASSWORD)).status).toBe(200);
  await untilTold(ada.email);
  const { body } = await ada.asSession('GET', '/api/audit-log?action=password.change');
  expect(body.data).toHaveLength(1);
});

test('a guess is counted, and an email is sent, also if the client disconnects', async () => {
  const ada = await register();
  const kept: Promise<unknown>[] = [];
  const context = { waitUntil: (work: Promise<unknown>) => kept.push(work) } as unknown as ExecutionContext;
  const attempt = (method: string, path: string, fields: object) => {
    const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' };
    const request = new Request(`${ORIGIN}/api/${path}`, { method, headers, body: JSON.stringify(fields) });
    return worker.fetch(request, env, context);
  };
  const current_password = 'wrong horse battery';
  for (const [method, path, fields, expected] of [
    ['POST', 'login', { email: ada.email, password: current_password }, 401],
    ['POST', 'login/two-factor', { challenge: 'lkt_x', code: '123456' }, 400],
    ['POST', 'change-password', { current_password, password: NEW_PASSWORD }, 401],
    ['POST', 'change-email', { current_password, email: 'thief@example.com' }, 401],
    ['POST', 'reset-password', { token: 'lkt_x', password: NEW_PASSWORD }, 400],
    ['POST', 'verify-email', { token: 'lkt_x' }, 400],
    ['POST', 'two-factor/confirm', { code: '123456' }, 409],
    ['POST', 'two-factor/recovery-codes', { current_password, code: '123456' }, 401],
    ['DELETE', 'two-factor', { current_password, code: '123456' }, 401],
    ['DELETE', 'account', { current_password, confirm: ada.email }, 401],
  ] as const) {
    const before = kept.length;
    const { status } = await attempt(method, path, fields);
    expect([path, status, kept.length - before]).toEqual([path, expected, 1]);
  }
});
