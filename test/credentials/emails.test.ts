import { expect, test, vi } from 'vitest';
import { changeEmail as startChange } from '../../src/credentials/change-email.ts';
import { type Answer, call, type Customer, outcomeOf, PASSWORD, signUp } from '../support/client.ts';
import { accountsD1, ctxOf, firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { lastMailTo, mailsTo } from '../support/mails.ts';
import { asVisitor } from '../support/sign-in.ts';
import { tokenTo } from '../support/tokens.ts';

const verify = (token: string) => asVisitor('/api/verify-email', { token, password: PASSWORD });
const outcome = async (answer: Promise<Answer>) => outcomeOf(await answer);

const changeEmail = (ada: Customer, email: string, password = ada.password) =>
  ada.asSession('POST', '/api/change-email', { email, current_password: password });
const emailOf = async (ada: Customer) => {
  const { email, email_verified, pending_email } = (await ada.asSession('GET', '/api/account')).body;
  return { email, email_verified, pending_email };
};
const copyOf = (ada: Customer) =>
  accountsD1.prepare('SELECT email FROM accounts WHERE id = ?').bind(ada.accountId).first('email');

test('registering sends an email whose token verifies the address once', async () => {
  const email = 'newcomer@example.com';
  const { body } = await asVisitor('/api/register', { email, password: 'correct horse battery' });
  const headers = { authorization: `Bearer ${body.session.token}` };
  expect(body.account.email_verified).toBe(false);
  const token = await tokenTo(email);
  expect((await lastMailTo(email)).text).toContain('https://latchkey.test/verify-email#token=');

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => asVisitor('/api/verify-email', { token }, headers)),
  );
  expect(answers.filter(({ status }) => status === 200).map((answer) => answer.body)).toEqual([
    { email, email_verified: true },
  ]);
  expect((await call('GET', '/api/account', { headers })).body.email_verified).toBe(true);
  expect((await call('POST', '/api/resend-verification', { headers })).status).toBe(202);
  await lastMailTo(email, 1);
});

test('resend-verification can be asked for five times an hour, and a token expires after a day', async () => {
  useFakeClock('2027-06-01T12:00:00.000Z');
  const ada = await signUp();
  const resend = () => outcome(ada.asSession('POST', '/api/resend-verification'));
  for (let i = 0; i < 5; i++) expect(await resend()).toBe('202 ok');
  expect(await resend()).toBe('429 rate_limit_exceeded');
  // An account whose address isn't verified sends two emails a day.
  const token = await tokenTo(ada.email, 2);
  vi.advanceTimersByTime(86_400_000);
  expect(await outcome(verify(token))).toBe('400 invalid_token');
});

test('a change of the email address takes effect when it is confirmed, and the old address is told', async () => {
  const ada = await signUp();
  const email = `new-${ada.email}`;
  expect(await outcome(changeEmail(ada, email, 'wrong'))).toBe('401 invalid_credentials');
  expect(await outcome(changeEmail(ada, ada.email))).toBe('400 invalid_request');
  expect(await outcome(changeEmail(ada, email))).toBe('202 ok');
  const token = await tokenTo(email);
  expect((await lastMailTo(ada.email)).text).toContain(email);
  expect(await emailOf(ada)).toEqual({ email: ada.email, email_verified: false, pending_email: email });

  expect((await verify(token)).body).toEqual({ email, email_verified: true });
  expect(await outcome(verify(token))).toBe('400 invalid_token');
  expect(await emailOf(ada)).toEqual({ email, email_verified: true, pending_email: null });
  expect(await copyOf(ada)).toBe(email);
  expect((await lastMailTo(ada.email, 2)).subject).toBe('Your email address has changed');
  expect(await outcome(asVisitor('/api/login', { email: ada.email, password: ada.password }))).toBe(
    '401 invalid_credentials',
  );
  expect(await outcome(asVisitor('/api/login', { email, password: ada.password }))).toBe('200 ok');
  expect((await ada.createLicense()).customer_email).toBe(email);
  const { body } = await ada.asSession('GET', '/api/audit-log');
  const actions = body.data.map(({ action }: { action: string }) => action);
  expect(actions.filter((action: string) => action.startsWith('email.'))).toEqual([
    'email.change',
    'email.request_change',
  ]);
});

test('an email address that was taken in the meantime is refused, and the token still works later', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  expect(await outcome(changeEmail(ada, bob.email))).toBe('409 email_taken');
  const email = `wanted-${ada.email}`;
  await changeEmail(ada, email);
  const token = await tokenTo(email);
  const rename = (id: string, to: string) =>
    firstD1.prepare('UPDATE users SET email = ? WHERE account_id = ?').bind(to, id).run();
  await rename(bob.accountId, email);
  expect(await outcome(verify(token))).toBe('409 email_taken');
  expect((await emailOf(ada)).email).toBe(ada.email);
  await rename(bob.accountId, bob.email);
  expect(await outcome(verify(token))).toBe('200 ok');
});

test('a change that was cut off between the two databases is completed by the next look at the account', async () => {
  const ada = await signUp();
  const email = `cut-off-${ada.email}`;
  await firstD1.prepare('UPDATE users SET email = ? WHERE account_id = ?').bind(email, ada.accountId).run();
  expect(await copyOf(ada)).toBe(ada.email);
  expect((await emailOf(ada)).email).toBe(email);
  expect(await copyOf(ada)).toBe(email);
});

test('a changed password cancels a change of the email address', async () => {
  const ada = await signUp();
  const email = `thief-${ada.email}`;
  await changeEmail(ada, email);
  const token = await tokenTo(email);
  await ada.asSession('POST', '/api/change-password', {
    current_password: ada.password,
    password: 'a new horse battery',
  });
  expect(await outcome(verify(token))).toBe('400 invalid_token');
  expect(mailsTo(email)).toHaveLength(1);
});

test('a change that has checked the password before a new password was set starts nothing', async () => {
  const ada = await signUp();
  const email = `late-thief-${ada.email}`;
  // The service looks for the new address after it has checked the password.
  const firstDb = new Proxy(publicCtx.firstDb, {
    get: (real, name) => {
      const value: unknown = Reflect.get(real, name);
      if (name !== 'batch') return typeof value === 'function' ? value.bind(real) : value;
      return async (statements: Parameters<typeof real.batch>[0]) => {
        if (statements.length === 4) await changePassword();
        return real.batch(statements);
      };
    },
  });
  const changePassword = () =>
    firstD1
      .prepare('UPDATE users SET password_changed_at = 1 WHERE account_id = ?')
      .bind(ada.accountId)
      .run();
  const ctx = { ...publicCtx, ...ctxOf(ada.accountId), firstDb };
  const client = { ip: '', origin: '', userAgent: null, previousToken: null, browserToken: null };
  const input = { email, current_password: ada.password };
  await expect(startChange(ctx, input, client)).rejects.toThrow('Wrong Password');
  expect((await emailOf(ada)).pending_email).toBe(null);
});

test('a token that was sent to an earlier address neither brings it back nor sets a password', async () => {
  const ada = await signUp();
  await ada.asSession('POST', '/api/resend-verification');
  const verification = await tokenTo(ada.email);
  await asVisitor('/api/forgot-password', { email: ada.email });
  const reset = await tokenTo(ada.email, 2);
  const email = `moved-${ada.email}`;
  await firstD1.prepare('UPDATE users SET email = ? WHERE account_id = ?').bind(email, ada.accountId).run();
  expect(await outcome(verify(verification))).toBe('400 invalid_token');
  const password = 'a new horse battery';
  expect(await outcome(asVisitor('/api/reset-password', { token: reset, password }))).toBe(
    '400 invalid_token',
  );
  expect(await outcome(asVisitor('/api/login', { email, password: ada.password }))).toBe('200 ok');
});
