import { expect, test } from 'vitest';
import { userTokens } from '../../src/db/schema.ts';
import { sha256 } from '../../src/shared/crypto/hash.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { type Account, outcomeOf, PASSWORD, register } from '../support/client.ts';
import { firstD1, publicCtx } from '../support/databases.ts';
import { asVisitor, login, withToken } from '../support/sign-in.ts';

/** An account, and what a link to an address of it carries. */
const withLink = async (purpose: 'verify_email' | 'change_email') => {
  const ada = await register();
  const address = purpose === 'verify_email' ? ada.email : `next-${ada.email}`;
  const { token, row } = newUserToken(publicCtx, ada.accountId, purpose, address);
  await publicCtx.firstDb.insert(userTokens).values(row);
  return { ada, address, token };
};

const bearer = ({ token }: Pick<Account, 'token'>) => ({ authorization: `Bearer ${token}` });
const verify = (token: string, fields: object = {}, headers: Record<string, string> = {}) =>
  asVisitor('/api/verify-email', { token, ...fields }, headers);

test.for([
  ['verify_email', 'an address'],
  ['change_email', 'a changed address'],
] as const)('the token of an email alone doesn’t prove $1', async ([purpose]) => {
  const { ada, address, token } = await withLink(purpose);
  const eve = await register();
  const refused = '401 reauthentication_required';
  expect(outcomeOf(await verify(token))).toBe(refused);
  expect(outcomeOf(await verify(token, {}, bearer(eve)))).toBe(refused);
  expect(outcomeOf(await verify(token, {}, bearer({ token: 'lks_x' })))).toBe(refused);
  const cookie = { cookie: `__Host-session=${ada.token}`, origin: 'https://elsewhere.example' };
  expect(outcomeOf(await verify(token, {}, cookie))).toBe(refused);
  const { body } = await ada.asSession('GET', '/api/account');
  expect(body).toMatchObject({ email: ada.email, email_verified: false });

  expect((await verify(token, {}, bearer(ada))).body).toEqual({ email: address, email_verified: true });
});

test('without a session, the password beside the token proves the address, and nothing ends', async () => {
  const { ada, address, token } = await withLink('verify_email');
  const wrong = await verify(token, { password: 'not the password' });
  expect(outcomeOf(wrong)).toBe('401 reauthentication_required');
  expect(wrong.body.error.details).toEqual([{ path: 'password', message: 'The password is wrong.' }]);
  const { body: key } = await ada.asSession('POST', '/api/create-api-key', {});
  expect((await verify(token, { password: PASSWORD })).body).toEqual({
    email: address,
    email_verified: true,
  });
  expect((await withToken(ada.token)).body.email_verified).toBe(true);
  expect((await ada.asSession('GET', `/api/api-keys/${key.id}`)).status).toBe(200);
});

test('a bad token says so before any password is checked', async () => {
  expect(outcomeOf(await verify('lkt_x', { password: 'a guess' }))).toBe('400 invalid_token');
});

test('the audit log names the session that has verified the address, or none', async () => {
  const actorOf = async (headers: Record<string, string>) => {
    const { ada, token } = await withLink('verify_email');
    const own = headers['authorization'] === undefined ? {} : bearer(ada);
    expect((await verify(token, { password: PASSWORD }, own)).status).toBe(200);
    const { body } = await ada.asSession('GET', '/api/audit-log?action=email.verify');
    return body.data[0].actor;
  };
  expect(await actorOf({})).toEqual({ kind: 'session', id: null });
  expect(await actorOf({ authorization: 'own' })).toEqual({
    kind: 'session',
    id: expect.stringMatching(/^ses_/),
  });
});

test('passwords that are guessed beside a token are limited, and keep nobody from signing in', async () => {
  const { ada, token } = await withLink('verify_email');
  const guess = () => verify(token, { password: 'a guess' });
  for (let i = 0; i < 10; i++) expect(outcomeOf(await guess())).toBe('401 reauthentication_required');
  expect(outcomeOf(await verify(token, { password: PASSWORD }))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await login(ada.email, PASSWORD))).toBe('200 ok');
  expect(outcomeOf(await verify(token, {}, bearer(ada)))).toBe('200 ok');
});

test('right passwords beside a token that can’t be used are limited, too', async () => {
  const { ada, address, token } = await withLink('change_email');
  expect((await asVisitor('/api/register', { email: address, password: PASSWORD })).status).toBe(201);
  const prove = async () => outcomeOf(await verify(token, { password: PASSWORD }));
  expect(await prove()).toBe('409 email_taken');
  const bucket = sha256(`login-success-token\n${ada.accountId}`);
  const setAttempts = 'UPDATE throttles SET attempts = attempts + 58 WHERE bucket = ?';
  await firstD1.prepare(setAttempts).bind(bucket).run();
  expect([await prove(), await prove()]).toEqual(['409 email_taken', '429 rate_limit_exceeded']);
  expect(outcomeOf(await login(ada.email, PASSWORD))).toBe('200 ok');
});

test('wrong passwords of strangers don’t keep the owner from proving an address by password', async () => {
  const { ada, token } = await withLink('verify_email');
  for (let i = 0; i < 10; i++) await login(ada.email, 'a guess');
  expect(outcomeOf(await login(ada.email, PASSWORD))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await verify(token, { password: PASSWORD }))).toBe('200 ok');
});
