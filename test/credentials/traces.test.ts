import { expect, test, vi } from 'vitest';
import { register } from '../support/client.ts';
import { mailsTo } from '../support/mails.ts';
import { asVisitor, login, verifyAddress } from '../support/sign-in.ts';
import { tokenTo } from '../support/tokens.ts';
import { registerTwoFactor } from '../support/two-factor.ts';

const NEW_PASSWORD = 'a new horse battery';
const WRONG_CODES = 'Wrong codes after your password';
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
  await vi.waitUntil(() => mailsAbout(ada.email, WRONG_CODES).length === 1);
  expect(await entriesOf(ada, 'two_factor.fail')).toMatchObject([{ details: { codes: 5 } }]);
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
  await vi.waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 2);
  const change = { current_password: ada.password, password: NEW_PASSWORD };
  const changed = await ada.asSession('POST', '/api/change-password', change, { cookie: own });
  expect(changed.status).toBe(200);
  const signIn = (cookie: string) =>
    asVisitor('/api/login', { email: ada.email, password: NEW_PASSWORD }, { cookie });
  expect((await signIn(own)).status).toBe(200);
  expect((await signIn(thief)).status).toBe(200);
  await vi.waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 3);
});

test('a password reset forgets every browser', async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  const thief = browserOf((await login(ada.email, ada.password)).headers);
  await vi.waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 1);
  await asVisitor('/api/forgot-password', { email: ada.email });
  const token = await tokenTo(ada.email, 2);
  expect((await asVisitor('/api/reset-password', { token, password: NEW_PASSWORD })).status).toBe(200);
  await asVisitor('/api/login', { email: ada.email, password: NEW_PASSWORD }, { cookie: thief });
  await vi.waitUntil(() => mailsAbout(ada.email, NEW_SIGN_IN).length === 2);
});
