import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { call, outcomeOf, PASSWORD } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asVisitor, withToken } from '../support/sign-in.ts';
import { tokenTo } from '../support/tokens.ts';
import {
  browserIn,
  challengeIn,
  entriesFor,
  guessCodes,
  NEW_PASSWORD,
  newOwner,
  tokenIn,
  trySignIn,
} from './owner.ts';

beforeEach(() => useFakeClock());

const WRONG_CODES = 'Wrong codes after your password';
const NEW_SIGN_IN = 'New sign-in to your account';

describe('whoever has only the password', () => {
  test('gets in without two-factor, and the owner gets an email, and the account by a reset', async () => {
    const ada = await newOwner({ hasTwoFactor: false });
    const signedIn = await trySignIn(ada.email, PASSWORD);
    const thief = tokenIn(signedIn);
    await ada.isTold(NEW_SIGN_IN);
    expect((await withToken(thief, 'GET', '/api/export')).status).toBe(200);

    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    expect(outcomeOf(await withToken(thief))).toBe('401 invalid_session');
    expect(outcomeOf(await trySignIn(ada.email, PASSWORD, browserIn(signedIn)))).toBe(
      '401 invalid_credentials',
    );
    const [entry] = await entriesFor(owner, 'login');
    expect(entry).toMatchObject({ actor: { kind: 'session' }, ip: expect.stringMatching(/^10\./) });
    expect(await entriesFor(owner, 'account.export')).toMatchObject([{ actor: entry.actor }]);
  });

  test('leaves a key that the audit log names, and that works until the owner deletes it', async () => {
    const ada = await newOwner({ hasTwoFactor: false });
    const thief = tokenIn(await trySignIn(ada.email, PASSWORD));
    const { api_key, id } = (await withToken(thief, 'POST', '/api/create-api-key', {})).body;
    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    const use = async () =>
      outcomeOf(await call('GET', '/api/v1/licenses', { headers: { 'x-api-key': api_key } }));
    expect(await use()).toBe('200 ok');
    const [entry] = await entriesFor(owner, 'api_key.create');
    const [login] = await entriesFor(owner, 'login');
    expect(entry).toMatchObject({ target: id, actor: login.actor });
    await withToken(owner, 'DELETE', `/api/api-keys/${id}`);
    expect(await use()).toBe('403 api_key_invalid');
  });

  test('can set a new password, of which the owner gets an email, and which a reset replaces', async () => {
    const ada = await newOwner({ hasTwoFactor: false });
    const thief = tokenIn(await trySignIn(ada.email, PASSWORD));
    const change = { current_password: PASSWORD, password: 'a thief’s password' };
    expect(outcomeOf(await withToken(thief, 'POST', '/api/change-password', change))).toBe('200 ok');
    await ada.isTold('Your password has changed');
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('401 invalid_session');
    expect(outcomeOf(await ada.signIn())).toBe('401 invalid_credentials');
    expect(outcomeOf(await ada.reset(NEW_PASSWORD))).toBe('200 ok');
    expect(outcomeOf(await withToken(thief))).toBe('401 invalid_session');
  });

  test('can move the account to another address, which the old one takes back for seven days', async () => {
    const ada = await newOwner({ hasTwoFactor: false });
    const thief = tokenIn(await trySignIn(ada.email, PASSWORD));
    const email = `thief-of-${ada.email}`;
    const change = { current_password: PASSWORD, email };
    expect(outcomeOf(await withToken(thief, 'POST', '/api/change-email', change))).toBe('202 ok');
    await ada.isTold('Your email address is about to change');
    const token = await tokenTo(email);
    expect(outcomeOf(await withToken(thief, 'POST', '/api/verify-email', { token }))).toBe('200 ok');
    await ada.isTold('Your email address has changed');
    expect(outcomeOf(await ada.signIn())).toBe('401 invalid_credentials');

    vi.advanceTimersByTime(6 * DAY_MS);
    const restore = { token: ada.linkIn('Your email address has changed') };
    expect(outcomeOf(await asVisitor('/api/restore-email', restore))).toBe('200 ok');
    expect(outcomeOf(await withToken(thief))).toBe('401 invalid_session');
    expect(outcomeOf(await trySignIn(email, PASSWORD))).toBe('401 invalid_credentials');
    expect(outcomeOf(await trySignIn(ada.email, PASSWORD))).toBe('401 invalid_credentials');
    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    expect((await withToken(owner)).body.email).toBe(ada.email);
    expect(await entriesFor(owner, 'email.restore')).toHaveLength(1);
  });

  test('can’t move it if the owner resets the password before the new address is confirmed', async () => {
    const ada = await newOwner({ hasTwoFactor: false });
    const thief = tokenIn(await trySignIn(ada.email, PASSWORD));
    const email = `thief-of-${ada.email}`;
    await withToken(thief, 'POST', '/api/change-email', { current_password: PASSWORD, email });
    const token = await tokenTo(email);
    expect(outcomeOf(await ada.reset(NEW_PASSWORD))).toBe('200 ok');
    expect(outcomeOf(await withToken(thief, 'POST', '/api/verify-email', { token }))).toBe(
      '400 invalid_token',
    );
  });

  test('stays out with two-factor, and the owner learns that the password is known', async () => {
    const ada = await newOwner({ hasTwoFactor: true });
    const challenge = challengeIn(await trySignIn(ada.email, PASSWORD));
    const wrong = Array.from({ length: 5 }, () => '401 invalid_credentials');
    expect(await guessCodes(challenge, 6)).toEqual([...wrong, '400 invalid_token']);
    await ada.isTold(WRONG_CODES);
    const later = challengeIn(await trySignIn(ada.email, PASSWORD));

    const change = { current_password: PASSWORD, password: NEW_PASSWORD };
    expect(outcomeOf(await ada.asSession('POST', '/api/change-password', change))).toBe('200 ok');
    expect(await guessCodes(later, 1)).toEqual(['400 invalid_token']);
    expect(outcomeOf(await trySignIn(ada.email, PASSWORD))).toBe('401 invalid_credentials');
    expect(outcomeOf(await ada.signIn(NEW_PASSWORD))).toBe('200 ok');
    expect(await entriesFor(ada.token, 'two_factor.fail')).toMatchObject([{ details: { codes: 5 } }]);
  });
});

describe('whoever has the password and a browser that the account knows', () => {
  test('gets in without an email, but not without an entry, and a reset forgets the browser', async () => {
    const ada = await newOwner({ hasTwoFactor: false });
    const browser = browserIn(await ada.signIn());
    await ada.isTold(NEW_SIGN_IN);
    const thief = tokenIn(await trySignIn(ada.email, PASSWORD, browser));
    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    await ada.isTold('Your password has changed');
    expect(ada.told().filter((subject) => subject === NEW_SIGN_IN)).toHaveLength(1);
    expect(await entriesFor(owner, 'login')).toHaveLength(2);
    expect(outcomeOf(await withToken(thief))).toBe('401 invalid_session');
    expect(outcomeOf(await trySignIn(ada.email, PASSWORD, browser))).toBe('401 invalid_credentials');
  });

  test('stays out with two-factor, and keeps the owner out of no other browser', async () => {
    const ada = await newOwner({ hasTwoFactor: true });
    const browser = browserIn(await ada.signIn());
    for (let i = 0; i < 2; i++)
      await guessCodes(challengeIn(await trySignIn(ada.email, PASSWORD, browser)), 5, browser);
    await ada.isTold(WRONG_CODES);
    expect(outcomeOf(await trySignIn(ada.email, PASSWORD, browser))).toBe('429 rate_limit_exceeded');
    expect(outcomeOf(await ada.signIn())).toBe('200 ok');
    expect(await entriesFor(ada.token, 'two_factor.fail')).toHaveLength(2);
  });
});
