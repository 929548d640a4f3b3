import { expect, test, vi } from 'vitest';
import { outcomeOf, register, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { mailsTo } from '../support/mails.ts';
import { asVisitor, login, verifyAddress } from '../support/sign-in.ts';
import { tokenTo } from '../support/tokens.ts';
import { registerTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

const NEW_PASSWORD = 'a new horse battery';
const WRONG_CODES = 'Wrong codes after your password';
const WRONG_PROOFS = 'Wrong passwords inside your account';
const NEW_SIGN_IN = 'New sign-in to your account';

const mailsAbout = (email: string, about: string) =>
  mailsTo(email).filter(({ subject }) => subject === about);

const entriesOf = async (ada: Awaited<ReturnType<typeof register>>, action: string) =>
  (await ada.asSession('GET', `/api/audit-log?action=${action}`)).body.data;

test('five wrong codes after the right password leave an entry and send an email, whatever challenges they answer', async () => {
  const ada = await registerTwoFactor();
  await verifyAddress(ada.accountId);
  const [first, second] = [await ada.challenge(), await ada.challenge()];
  const answer = (challenge: string) => asVisitor('/api/login/two-factor', { challenge, code: '000 000 0' });
  for (const challenge of [first, first, second, second]) expect((await answer(challenge)).status).toBe(401);
  expect(await entriesOf(ada, 'two_factor.fail')).toEqual([]);
  expect((await answer(first)).status).toBe(401);
  await waitUntil(() => mailsAbout(ada.email, WRONG_CODES).length === 1);
  expect(await entriesOf(ada, 'two_factor.fail')).toMatchObject([{ details: { codes: 5 } }]);
});

test('five wrong codes of a day are noticed, however slowly they come', async () => {
  useFakeClock();
  const ada = await registerTwoFactor();
  await verifyAddress(ada.accountId);
  for (let i = 0; i < 5; i++) {
    expect(await entriesOf(ada, 'two_factor.fail')).toEqual([]);
    const answer = await login(ada.email, ada.password);
    const challenge: string = answer.body.error.details[0].message;
    const guess = { challenge, code: '000 000 0' };
    expect((await asVisitor('/api/login/two-factor', guess)).status).toBe(401);
    vi.advanceTimersByTime(3_600_000);
  }
  await waitUntil(() => mailsAbout(ada.email, WRONG_CODES).length === 1);
  expect(await entriesOf(ada, 'two_factor.fail')).toMatchObject([{ details: { codes: 5 } }]);
});

test.for([
  { name: 'passwords', proof: { password: 'wrong horse battery' }, newOwner: register },
  { name: 'codes', proof: { code: '000 000 0' }, newOwner: registerTwoFactor },
])('ten wrong $name inside a session leave an entry and send an email', async ({ proof, newOwner }) => {
  const ada = await newOwner();
  await verifyAddress(ada.accountId);
  const guess = () => ada.asSession('POST', '/api/reauthenticate', proof);
  for (let i = 0; i < 9; i++) expect(outcomeOf(await guess())).toBe('401 invalid_credentials');
  expect(await entriesOf(ada, 'session.fail')).toEqual([]);
  expect(outcomeOf(await guess())).toBe('401 invalid_credentials');
  expect(outcomeOf(await guess())).toBe('429 rate_limit_exceeded');
  expect(await entriesOf(ada, 'session.fail')).toMatchObject([
    { actor: { kind: 'session' }, details: { tries: 10 } },
  ]);
  await waitUntil(() => mailsAbout(ada.email, WRONG_PROOFS).length === 1);
  expect(mailsAbout(ada.email, WRONG_PROOFS)[0]?.text).toContain('Somebody who is signed in');
});

test('ten wrong passwords with an API key leave an entry that names the key, and send an email', async () => {
  const ada = await signUp();
  await verifyAddress(ada.accountId);
  const guess = { current_password: 'wrong horse battery', password: NEW_PASSWORD };
  for (let i = 0; i < 10; i++) await ada.asKey('POST', '/api/change-password', guess);
  expect(await entriesOf(ada, 'session.fail')).toMatchObject([
    { actor: { kind: 'api_key', id: ada.apiKeyId }, details: { tries: 10 } },
  ]);
  await waitUntil(() => mailsAbout(ada.email, WRONG_PROOFS).length === 1);
  expect(mailsAbout(ada.email, WRONG_PROOFS)[0]?.text).toContain('Delete the key');
});

const browserOf = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .find((cookie) => cookie.startsWith('__Host-browser=')) ?? '';

test('a new password forgets every browser but the one that sets it', async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  const thief = browserOf((await login(ada.email, ada.password)).headers);
  const own = browserOf((await login(ada.email, ada.password)).headers);
  await waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 2);
  const change = { current_password: ada.password, password: NEW_PASSWORD };
  const changed = await ada.asSession('POST', '/api/change-password', change, { cookie: own });
  expect(changed.status).toBe(200);
  const signIn = (cookie: string) =>
    asVisitor('/api/login', { email: ada.email, password: NEW_PASSWORD }, { cookie });
  expect((await signIn(own)).status).toBe(200);
  expect((await signIn(thief)).status).toBe(200);
  await waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 3);
});

test('a password reset forgets every browser', async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  const thief = browserOf((await login(ada.email, ada.password)).headers);
  await waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 1);
  await asVisitor('/api/forgot-password', { email: ada.email });
  const token = await tokenTo(ada.email, 2);
  expect((await asVisitor('/api/reset-password', { token, password: NEW_PASSWORD })).status).toBe(200);
  await asVisitor('/api/login', { email: ada.email, password: NEW_PASSWORD }, { cookie: thief });
  await waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 2);
});
