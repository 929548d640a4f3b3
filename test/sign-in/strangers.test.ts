import { beforeEach, expect, test, vi } from 'vitest';
import { mintToken } from '../../src/users/tagged-tokens.ts';
import { type Account, type Answer, outcomeOf, register, tallyOf } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { heldFor } from '../support/mails.ts';
import { asVisitor, verifyAddress } from '../support/sign-in.ts';
import { tokenTo } from '../support/tokens.ts';
import { registerTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

const WRONG = 'wrong horse battery';
const MINUTE_MS = 60_000;

beforeEach(() => {
  useFakeClock();
});

const signIn = ({ email, password }: Pick<Account, 'email' | 'password'>, cookie = '') =>
  asVisitor('/api/login', { email, password }, cookie === '' ? {} : { cookie });

const browserOf = ({ headers }: Answer) =>
  /__Host-browser=\w+/.exec(headers.getSetCookie().join('\n'))?.[0] ?? '';

/** An account with a browser that it knows, whose email address strangers have blocked. */
const besieged = async () => {
  const ada = await register();
  const browser = browserOf(await signIn(ada));
  for (let i = 0; i < 10; i++) await signIn({ ...ada, password: WRONG });
  expect(outcomeOf(await signIn(ada))).toBe('429 rate_limit_exceeded');
  return { ...ada, browser };
};

const change = (ada: Account, current_password: string, headers = {}) =>
  ada.asSession('POST', '/api/change-password', { current_password, password: ada.password }, headers);

test('wrong passwords of strangers lock out neither a browser that the account knows nor a session', async () => {
  const ada = await besieged();
  expect(outcomeOf(await signIn(ada, ada.browser))).toBe('200 ok');
  expect(outcomeOf(await change(ada, ada.password))).toBe('200 ok');
  const erase = { current_password: ada.password, confirm: ada.email };
  expect(outcomeOf(await ada.asSession('DELETE', '/api/account', erase))).toBe('202 ok');
});

test('a browser that another account knows is a stranger', async () => {
  const [ada, eve] = [await besieged(), await register()];
  const cookie = browserOf(await signIn(eve));
  expect(outcomeOf(await signIn(ada, cookie))).toBe('429 rate_limit_exceeded');
});

test('the wrong passwords of a known browser are limited, and lock out nobody else', async () => {
  const ada = await register();
  const browsers = [browserOf(await signIn(ada)), browserOf(await signIn(ada))];
  const guesses = await Promise.all(
    Array.from({ length: 15 }, () => signIn({ ...ada, password: WRONG }, browsers[0])),
  );
  expect(tallyOf(guesses)).toEqual({ '401 invalid_credentials': 10, '429 rate_limit_exceeded': 5 });
  expect(outcomeOf(await signIn(ada, browsers[0]))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await signIn(ada, browsers[1]))).toBe('200 ok');
  expect(outcomeOf(await signIn(ada))).toBe('200 ok');
  vi.advanceTimersByTime(15 * MINUTE_MS + 1);
  expect(outcomeOf(await signIn(ada, browsers[0]))).toBe('200 ok');
});

test('the wrong passwords of a session are limited, and lock out nobody else', async () => {
  const ada = await register();
  const other = (await signIn(ada)).body.session.token as string;
  const asOther = { authorization: `Bearer ${other}` };
  for (let i = 0; i < 10; i++)
    expect(outcomeOf(await change(ada, WRONG, asOther))).toBe('401 invalid_credentials');
  expect(outcomeOf(await change(ada, ada.password, asOther))).toBe('429 rate_limit_exceeded');
  const erase = { current_password: ada.password, confirm: ada.email };
  expect(outcomeOf(await ada.asSession('DELETE', '/api/account', erase, asOther))).toBe(
    '429 rate_limit_exceeded',
  );
  expect(outcomeOf(await signIn(ada))).toBe('200 ok');
  expect(outcomeOf(await change(ada, ada.password))).toBe('200 ok');
});

test('a stolen session gets 30 guesses a day, and its owner signs in anew', async () => {
  const ada = await register();
  const guesses: Answer[] = [];
  for (let quarter = 0; quarter < 4; quarter++) {
    for (let i = 0; i < 11; i++)
      guesses.push(await ada.asSession('POST', '/api/reauthenticate', { password: WRONG }));
    vi.advanceTimersByTime(15 * MINUTE_MS + 1);
  }
  expect(tallyOf(guesses)).toEqual({ '401 invalid_credentials': 30, '429 rate_limit_exceeded': 14 });
  expect(outcomeOf(await signIn(ada))).toBe('200 ok');
});

test('the wrong passwords of all API keys of an account are limited together', async () => {
  const ada = await register();
  const keyOf = async () => (await ada.asSession('POST', '/api/create-api-key', {})).body.api_key as string;
  for (let i = 0; i < 10; i++) {
    const headers = { 'x-api-key': await keyOf() };
    expect(outcomeOf(await change(ada, WRONG, headers))).toBe('401 invalid_credentials');
  }
  expect(outcomeOf(await change(ada, WRONG, { 'x-api-key': await keyOf() }))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await change(ada, ada.password))).toBe('200 ok');
});

test('wrong codes of whoever knows the password lock out neither a known browser nor a session', async () => {
  const ada = await registerTwoFactor();
  const answer = async (code: string, cookie = '') => {
    const challenge = (await signIn(ada, cookie)).body.error.details?.[0].message ?? '';
    return asVisitor('/api/login/two-factor', { challenge, code }, cookie === '' ? {} : { cookie });
  };
  vi.advanceTimersByTime(MINUTE_MS);
  const browser = browserOf(await answer(ada.code()));
  expect(browser).not.toBe('');
  for (let i = 0; i < 10; i++) await answer(ada.code(9));
  expect(outcomeOf(await answer(ada.code(9)))).toBe('429 rate_limit_exceeded');
  vi.advanceTimersByTime(MINUTE_MS);
  expect(outcomeOf(await answer(ada.code(), browser))).toBe('200 ok');
  vi.advanceTimersByTime(MINUTE_MS);
  const off = { current_password: ada.password, code: ada.code() };
  expect(outcomeOf(await ada.asSession('DELETE', '/api/two-factor', off))).toBe('200 ok');
});

test('wrong passwords of strangers don’t keep the owner from the code after a reset, in any browser', async () => {
  const ada = await registerTwoFactor();
  await verifyAddress(ada.accountId);
  for (let i = 0; i < 10; i++) await signIn({ ...ada, password: WRONG });
  expect(outcomeOf(await signIn(ada))).toBe('429 rate_limit_exceeded');
  await asVisitor('/api/forgot-password', { email: ada.email });
  const reset = await asVisitor('/api/reset-password', {
    token: await tokenTo(ada.email, 2),
    password: WRONG,
  });
  expect(outcomeOf(reset)).toBe('401 two_factor_required');
  vi.advanceTimersByTime(MINUTE_MS);
  const challenge = reset.body.error.details[0].message;
  expect(outcomeOf(await asVisitor('/api/login/two-factor', { challenge, code: ada.code() }))).toBe('200 ok');
});

test('wrong codes of whoever knew the password don’t keep the owner out after a new one', async () => {
  const ada = await registerTwoFactor();
  const answer = async (password: string, code: string) => {
    const { error } = (await signIn({ ...ada, password })).body;
    return asVisitor('/api/login/two-factor', { challenge: error.details[0].message, code });
  };
  for (let i = 0; i < 10; i++) await answer(ada.password, ada.code(9));
  expect(outcomeOf(await answer(ada.password, ada.code(9)))).toBe('429 rate_limit_exceeded');
  await ada.asSession('POST', '/api/change-password', { current_password: ada.password, password: WRONG });
  vi.advanceTimersByTime(MINUTE_MS);
  expect(outcomeOf(await answer(WRONG, ada.code()))).toBe('200 ok');
});

test('sixty sign-ins of whoever knows the password don’t keep out a browser that the account knows', async () => {
  const ada = await register();
  const browser = browserOf(await signIn(ada));
  for (let i = 0; i < 60; i++) await signIn(ada);
  expect(outcomeOf(await signIn(ada))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await signIn(ada, browser))).toBe('200 ok');
});

test('a flood of refused logins with made-up or foreign cookies hardly queries D1', async () => {
  const [ada, eve] = [await besieged(), await register()];
  const foreign = browserOf(await signIn(eve));
  // The email about it is sent.
  await waitUntil(async () => (await heldFor(eve.email)).length === 0);
  const madeUp = `__Host-browser=${mintToken(publicCtx, 'lkb_').slice(0, -1)}!`;
  const { result, statements } = await recordStatements(async () => {
    const answers: Answer[] = [];
    for (let i = 0; i < 40; i++) answers.push(await signIn(ada, i % 2 === 0 ? foreign : madeUp));
    return answers;
  });
  expect(tallyOf(result)).toEqual({ '429 rate_limit_exceeded': 40 });
  expect(statements).toHaveLength(1);
});

test('a browser with a cookie of v0.1.0 is not new, and gets one that strangers can’t make up', async () => {
  const ada = await register();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('x'.repeat(43)));
  const hash = new Uint8Array(digest).toBase64({ alphabet: 'base64url', omitPadding: true });
  const insert = firstD1.prepare('INSERT INTO known_browsers VALUES (?, ?, ?)');
  await insert.bind(ada.accountId, hash, 1).run();
  const answer = await signIn(ada, `__Host-browser=${'x'.repeat(43)}`);
  expect(browserOf(answer)).toMatch(/=lkb_\w{54}$/);
});

test('of a hundred known browsers, the one seen longest ago stays known when it signs in', async () => {
  const ada = await register();
  await firstD1.prepare('DELETE FROM known_browsers WHERE account_id = ?').bind(ada.accountId).run();
  const browser = browserOf(await signIn(ada));
  const others = firstD1.prepare(
    `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 99)
    INSERT INTO known_browsers SELECT ?, 'browser ' || i, ? + i FROM n`,
  );
  await others.bind(ada.accountId, Date.now()).run();
  await signIn(ada, browser);
  for (let i = 0; i < 10; i++) await signIn({ ...ada, password: WRONG });
  expect(outcomeOf(await signIn(ada))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await signIn(ada, browser))).toBe('200 ok');
  const count = firstD1.prepare('SELECT count(*) AS n FROM known_browsers WHERE account_id = ?');
  expect(await count.bind(ada.accountId).first<number>('n')).toBe(100);
});
