import { beforeEach, describe, expect, test, vi } from 'vitest';
import { userTokens } from '../../src/db/schema.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { captureLogs, dumpDatabase, expectAbsent } from '../http/security.ts';
import { codeAt } from '../support/authenticator.ts';
import { type Answer, outcomeOf, register } from '../support/client.ts';
import { firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { mailsTo } from '../support/mails.ts';
import { addSession, asVisitor, verifyAddress, withToken } from '../support/sign-in.ts';
import { enableTwoFactor, registerTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

const STEP_MS = 30_000;
const MINUTE_MS = 60_000;
const NEW_PASSWORD = 'another horse battery';

beforeEach(() => useFakeClock());

/** An account with two-factor authentication on, as of the step before. */
const enable = async () => {
  const ada = await registerTwoFactor();
  await verifyAddress(ada.accountId);
  vi.advanceTimersByTime(STEP_MS);
  const login = (password = ada.password) => asVisitor('/api/login', { email: ada.email, password });
  const challengeOf = ({ status, body }: Answer): string => {
    const { code, details } = body.error;
    expect([status, code, details[0].path]).toEqual([401, 'two_factor_required', 'challenge']);
    return details[0].message;
  };
  const answer = (challenge: string, code: string) => asVisitor('/api/login/two-factor', { challenge, code });
  return { ...ada, login, challengeOf, answer };
};

const actionsOf = async (accountId: string) => {
  const { results } = await firstD1
    .prepare('SELECT action, details FROM audit_log WHERE account_id = ? ORDER BY id')
    .bind(accountId)
    .all();
  return results.map(({ action, details }) => `${String(action)} ${String(details)}`);
};

test('a login with two-factor authentication requires a code, and answers as a login does', async () => {
  const ada = await enable();
  expect(ada.url).toContain(ada.secret);
  const isOn = async () => (await ada.asSession('GET', '/api/account')).body.two_factor;
  expect(await isOn()).toBe(true);
  const first = await ada.login();
  expect(first.headers.getSetCookie()).toEqual([]);
  const answer = await ada.answer(
    ada.challengeOf(first),
    ` ${ada.code().slice(0, 3)} ${ada.code().slice(3)} `,
  );
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    account: expect.objectContaining({ id: ada.accountId, email: ada.email }),
    session: { token: expect.stringMatching(/^lks_/), expires_at: expect.any(String) },
  });
  expect(answer.headers.getSetCookie()[0]).toContain('__Host-session=lks_');

  vi.advanceTimersByTime(STEP_MS);
  const off = { current_password: ada.password, code: ada.code() };
  expect(
    outcomeOf(await ada.asSession('DELETE', '/api/two-factor', { ...off, current_password: 'wrong' })),
  ).toBe('401 invalid_credentials');
  expect(outcomeOf(await ada.asSession('DELETE', '/api/two-factor', { ...off, code: ada.code(9) }))).toBe(
    '401 invalid_credentials',
  );
  expect((await ada.asSession('DELETE', '/api/two-factor', off)).body).toEqual({ two_factor: false });
  expect(await isOn()).toBe(false);
  expect((await ada.login()).status).toBe(200);
  const isTold = (subject: string) => mailsTo(ada.email).some((mail) => mail.subject === subject);
  await waitUntil(() => isTold('Two-factor authentication is off'));
  expect(isTold('Two-factor authentication is on')).toBe(true);
  expect(await actionsOf(ada.accountId)).toEqual([
    'register null',
    'two_factor.enable null',
    'login {"two_factor":"totp"}',
    'two_factor.disable null',
    'login null',
  ]);
});

test('a wrong password is answered as without two-factor authentication', async () => {
  const [ada, bob] = [await enable(), await register()];
  const answers = [
    await ada.login('wrong'),
    await asVisitor('/api/login', { email: bob.email, password: 'wrong' }),
  ];
  const [first, second] = answers.map(({ status, body: { error } }) => [
    status,
    error.code,
    error.message,
    error.details,
  ]);
  expect(first).toEqual(second);
});

test('a code works once, also in parallel and in another challenge', async () => {
  const ada = await enable();
  const challenges = [await ada.challenge(), await ada.challenge(), await ada.challenge()];
  const sent = await Promise.all(challenges.slice(0, 2).map((each) => ada.answer(each, ada.code())));
  expect(sent.map(outcomeOf).toSorted()).toEqual(['200 ok', '401 invalid_credentials']);
  // The code of the step before is used up, too.
  expect(outcomeOf(await ada.answer(challenges[2] ?? '', ada.code()))).toBe('401 invalid_credentials');
  expect(outcomeOf(await ada.answer(challenges[2] ?? '', ada.code(-1)))).toBe('401 invalid_credentials');
  expect(outcomeOf(await ada.answer(challenges[2] ?? '', ada.code(1)))).toBe('200 ok');
  // A challenge works once.
  expect(outcomeOf(await ada.answer(challenges[2] ?? '', ada.recoveryCodes[0] ?? ''))).toBe(
    '400 invalid_token',
  );
});

test('the code that confirms the setup doesn’t work for a login', async () => {
  const ada = await enable();
  expect(outcomeOf(await ada.answer(await ada.challenge(), ada.code(-1)))).toBe('401 invalid_credentials');
});

test('each recovery code works once, also in parallel', async () => {
  const ada = await enable();
  expect(ada.recoveryCodes).toHaveLength(10);
  const [code = '', other = ''] = ada.recoveryCodes;
  const challenges = [await ada.challenge(), await ada.challenge(), await ada.challenge()];
  const sent = await Promise.all(challenges.slice(0, 2).map((each) => ada.answer(each, code)));
  expect(sent.map(outcomeOf).toSorted()).toEqual(['200 ok', '401 invalid_credentials']);
  expect(outcomeOf(await ada.answer(challenges[2] ?? '', code))).toBe('401 invalid_credentials');
  expect(outcomeOf(await ada.answer(challenges[2] ?? '', other.toLowerCase().replaceAll('-', '')))).toBe(
    '200 ok',
  );
  expect(await actionsOf(ada.accountId)).toEqual(
    expect.arrayContaining(['recovery_code.use null', 'login {"two_factor":"recovery_code"}']),
  );
});

describe('a challenge', () => {
  test('takes five tries, also in parallel', async () => {
    const ada = await enable();
    const challenge = await ada.challenge();
    const tries = await Promise.all(Array.from({ length: 8 }, () => ada.answer(challenge, ada.code(9))));
    expect(tries.map(outcomeOf).toSorted()).toEqual([
      ...Array<string>(3).fill('400 invalid_token'),
      ...Array<string>(5).fill('401 invalid_credentials'),
    ]);
    expect(outcomeOf(await ada.answer(challenge, ada.code()))).toBe('400 invalid_token');
    expect(outcomeOf(await ada.answer(await ada.challenge(), ada.code()))).toBe('200 ok');
  });

  test('works for ten minutes', async () => {
    const ada = await enable();
    const [first, second] = [await ada.challenge(), await ada.challenge()];
    vi.advanceTimersByTime(10 * MINUTE_MS - 1);
    expect(outcomeOf(await ada.answer(first, ada.code()))).toBe('200 ok');
    vi.advanceTimersByTime(1);
    expect(outcomeOf(await ada.answer(second, ada.code(1)))).toBe('400 invalid_token');
  });

  test('ends with a change of the password', async () => {
    const ada = await enable();
    const challenge = await ada.challenge();
    const change = { current_password: ada.password, password: NEW_PASSWORD };
    expect((await ada.asSession('POST', '/api/change-password', change)).status).toBe(200);
    expect(outcomeOf(await ada.answer(challenge, ada.code()))).toBe('400 invalid_token');
  });

  test('takes ten wrong codes in 15 minutes, whatever challenges they answer, apart from wrong passwords', async () => {
    const ada = await enable();
    for (let i = 0; i < 2; i++) {
      const challenge = await ada.challenge();
      for (let tries = 0; tries < 5; tries++) await ada.answer(challenge, ada.code(9));
    }
    const challenge = ada.challengeOf(await ada.login());
    expect(outcomeOf(await ada.answer(challenge, ada.code()))).toBe('429 rate_limit_exceeded');
    vi.advanceTimersByTime(15 * MINUTE_MS + 1);
    expect(outcomeOf(await ada.answer(ada.challengeOf(await ada.login()), ada.code()))).toBe('200 ok');
  });
});

test('a new password by email doesn’t replace the code', async () => {
  const ada = await enable();
  const { token, row } = newUserToken(publicCtx, ada.accountId, 'reset_password', ada.email);
  await publicCtx.firstDb.insert(userTokens).values(row);
  const reset = await asVisitor('/api/reset-password', { token, password: NEW_PASSWORD });
  expect(reset.headers.getSetCookie()).toEqual([]);
  expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('401 invalid_session');
  expect(outcomeOf(await ada.answer(ada.challengeOf(reset), ada.code()))).toBe('200 ok');
  expect(await actionsOf(ada.accountId)).toContain('password.reset null');
});

test('the setup changes nothing until a code confirms it, and only a session can make it', async () => {
  const ada = await register();
  const { body } = await ada.asSession('POST', '/api/create-api-key', {});
  const byKey = await ada.asSession('POST', '/api/two-factor', undefined, { 'x-api-key': body.api_key });
  expect(outcomeOf(byKey)).toBe('403 insufficient_scope');
  const confirm = (code: string) => ada.asSession('POST', '/api/two-factor/confirm', { code });
  expect(outcomeOf(await confirm('000000'))).toBe('409 invalid_transition');
  const first = (await ada.asSession('POST', '/api/two-factor')).body;
  const second = (await ada.asSession('POST', '/api/two-factor')).body;
  expect(outcomeOf(await confirm(codeAt(first.secret, Date.now())))).toBe('401 invalid_credentials');
  expect(outcomeOf(await asVisitor('/api/login', { email: ada.email, password: ada.password }))).toBe(
    '200 ok',
  );
  const sent = await Promise.all([1, 2].map(() => confirm(codeAt(second.secret, Date.now()))));
  expect(sent.map(outcomeOf).toSorted()).toEqual(['200 ok', '409 invalid_transition']);
  expect(outcomeOf(await ada.asSession('POST', '/api/two-factor'))).toBe('409 invalid_transition');
});

test('neither the database nor the log has a secret, a code or a challenge', async () => {
  const logs = captureLogs();
  const ada = await enable();
  const challenge = await ada.challenge();
  await ada.answer(challenge, ada.code(9));
  const stored = await dumpDatabase();
  const logged = logs.stop();
  expect(stored).toContain(ada.accountId);
  for (const text of [stored, logged]) expectAbsent(text, [ada.secret, challenge, ...ada.recoveryCodes]);
});

test('turning two-factor on ends every other session, which began with a password alone', async () => {
  const ada = await register();
  const stolen = await addSession(ada.accountId);
  expect(outcomeOf(await withToken(stolen))).toBe('200 ok');
  await enableTwoFactor(ada);
  expect(outcomeOf(await withToken(stolen))).toBe('401 invalid_session');
  expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('200 ok');
});
