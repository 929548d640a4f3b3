import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { codeAt } from '../support/authenticator.ts';
import { outcomeOf, PASSWORD } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { addSession, withToken } from '../support/sign-in.ts';
import {
  challengeIn,
  CUSTOMER,
  entriesFor,
  guessCodes,
  MINUTE_MS,
  NEW_PASSWORD,
  newOwner,
  resetByMail,
  tokenIn,
  trySignIn,
  VARIANTS,
} from './owner.ts';

beforeEach(() => useFakeClock());

/** An owner, one of whose sessions a thief has had for a while. */
const robbed = async (variant: { hasTwoFactor: boolean }) => {
  const ada = await newOwner(variant);
  const stolen = await addSession(ada.accountId);
  vi.advanceTimersByTime(11 * MINUTE_MS);
  const asThief = (method: string, path: string, body?: object) => withToken(stolen, method, path, body);
  return { ...ada, stolen, asThief };
};

describe.for(VARIANTS)('whoever has only a session, $name', (variant) => {
  test('reads what the dashboard shows, and gets neither keys nor the export nor the account', async () => {
    const { asThief, password, email } = await robbed(variant);
    const { data } = (await asThief('GET', '/api/v1/licenses')).body;
    expect(data).toMatchObject([{ customer_email: CUSTOMER }]);
    const change = { current_password: password, password: NEW_PASSWORD };
    for (const [method, path, body] of [
      ['POST', '/api/create-api-key', {}],
      ['GET', '/api/export'],
      ['POST', '/api/webhooks', { url: 'https://thief.example.net/hook' }],
      ['POST', '/api/change-password', change],
      ['POST', '/api/two-factor'],
      ['DELETE', '/api/account', { current_password: password, confirm: email }],
    ] as const)
      expect(outcomeOf(await asThief(method, path, body))).toBe('401 reauthentication_required');
  });

  test('guesses ten times, of which the owner gets an email, and 30 times a day', async () => {
    const { asThief, isTold, signIn } = await robbed(variant);
    const proof = variant.hasTwoFactor ? { code: '000 000 0' } : { password: 'a guess' };
    const guess = async () => outcomeOf(await asThief('POST', '/api/reauthenticate', proof));
    for (let i = 0; i < 10; i++) expect(await guess()).toBe('401 invalid_credentials');
    expect(await guess()).toBe('429 rate_limit_exceeded');
    await isTold('Wrong passwords inside your account');
    const [entry] = await entriesFor(tokenIn(await signIn()), 'session.fail');
    expect(entry).toMatchObject({ actor: { kind: 'session' }, details: { tries: 10 } });
  });

  test('is out once the owner ends the other sessions, or sets a new password', async () => {
    const change = { current_password: PASSWORD, password: NEW_PASSWORD };
    for (const [method, path, body] of [
      ['DELETE', '/api/sessions'],
      ['POST', '/api/change-password', change],
    ] as const) {
      const { asSession, asThief, signIn } = await robbed(variant);
      const owner = tokenIn(await signIn());
      expect((await asSession('GET', '/api/sessions')).body.data).toHaveLength(3);
      expect(outcomeOf(await withToken(owner, method, path, body))).toBe('200 ok');
      expect(outcomeOf(await asThief('GET', '/api/account'))).toBe('401 invalid_session');
    }
  });

  test('can sign the owner out, but not keep the owner from signing in', async () => {
    const { asSession, asThief, signIn } = await robbed(variant);
    expect(outcomeOf(await asThief('DELETE', '/api/sessions'))).toBe('200 ok');
    expect(outcomeOf(await asSession('GET', '/api/account'))).toBe('401 invalid_session');
    const owner = tokenIn(await signIn());
    expect(await entriesFor(owner, 'session.end')).toMatchObject([{ actor: { kind: 'session' } }]);
    await withToken(owner, 'DELETE', '/api/sessions');
    expect(outcomeOf(await asThief('GET', '/api/account'))).toBe('401 invalid_session');
  });
});

test('whoever steals a session within ten minutes of its sign-in can turn two-factor on, until the operator resets it', async () => {
  const ada = await newOwner({ hasTwoFactor: false });
  const stolen = await addSession(ada.accountId);
  const { secret } = (await withToken(stolen, 'POST', '/api/two-factor')).body;
  const on = await withToken(stolen, 'POST', '/api/two-factor/confirm', { code: codeAt(secret, Date.now()) });
  expect(outcomeOf(on)).toBe('200 ok');
  await ada.isTold('Two-factor authentication is on');
  expect(await entriesFor(stolen, 'two_factor.enable')).toHaveLength(1);
  expect(outcomeOf(await ada.signIn())).toBe('401 two_factor_required');
  // A reset ends the thief's session, but asks for the thief's code.
  expect(outcomeOf(await ada.reset(NEW_PASSWORD))).toBe('401 two_factor_required');
  expect(outcomeOf(await withToken(stolen))).toBe('401 invalid_session');

  onTestFinished(withOperatorToken());
  const path = `/operator/accounts/${ada.accountId}/reset-two-factor`;
  expect(outcomeOf(await asOperator('POST', path))).toBe('200 ok');
  await ada.isTold('Two-factor authentication is about to be turned off');
  expect(outcomeOf(await ada.signIn(NEW_PASSWORD))).toBe('401 two_factor_required');
  vi.advanceTimersByTime(2 * DAY_MS);
  const owner = tokenIn(await ada.signIn(NEW_PASSWORD));
  expect((await withToken(owner)).body.two_factor).toBe(false);
});

describe('whoever has a session and the mailbox', () => {
  test('takes the account without two-factor, until the owner has the mailbox back', async () => {
    const ada = await robbed({ hasTwoFactor: false });
    const reset = await resetByMail(ada.email, 'a thief’s password');
    expect(outcomeOf(reset)).toBe('200 ok');
    await ada.isTold('Your password has changed');
    expect(outcomeOf(await ada.signIn())).toBe('401 invalid_credentials');
    expect((await withToken(tokenIn(reset), 'GET', '/api/export')).status).toBe(200);

    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    expect(outcomeOf(await withToken(tokenIn(reset)))).toBe('401 invalid_session');
    expect(await entriesFor(owner, 'password.reset')).toHaveLength(2);
    expect(await entriesFor(owner, 'account.export')).toHaveLength(1);
  });

  test('loses the session with two-factor, and gets in no more', async () => {
    const ada = await robbed({ hasTwoFactor: true });
    const reset = await resetByMail(ada.email, 'a thief’s password');
    expect(outcomeOf(reset)).toBe('401 two_factor_required');
    expect(outcomeOf(await ada.asThief('GET', '/api/account'))).toBe('401 invalid_session');
    await guessCodes(challengeIn(reset), 5);
    await ada.isTold('Wrong codes after your password');

    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    expect(await entriesFor(owner, 'two_factor.fail')).toMatchObject([{ details: { codes: 5 } }]);
    expect(outcomeOf(await trySignIn(ada.email, 'a thief’s password'))).toBe('401 invalid_credentials');
  });
});
