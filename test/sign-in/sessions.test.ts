import { exports } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { dumpDatabase, expectAbsent } from '../http/security.ts';
import { type Answer, call, freshAddress, register } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const PASSWORD = 'correct horse battery';
const VALID = { email: 'valid@example.com', password: PASSWORD };

const signIn = (action: 'register' | 'login', body: object, headers: Record<string, string> = {}) =>
  call('POST', `/api/${action}`, { body, headers: { 'cf-connecting-ip': freshAddress(), ...headers } });

const account = (headers: Record<string, string>) => call('GET', '/api/account', { headers });
const byCookie = (token: string) => account({ cookie: `theme=dark; __Host-session=${token}` });
const byBearer = (token: string) => account({ authorization: `Bearer ${token}` });

/** Returns the session cookie that a response sets, with its attributes by name. */
const cookieOf = ({ headers }: Pick<Answer, 'headers'>) => {
  const [cookie = '', ...others] = headers.getSetCookie();
  expect(others.filter((other) => !/^(?:__Host-)?browser=/.test(other))).toEqual([]);
  const [pair = '', ...attributes] = cookie.split('; ');
  const [name = '', value = ''] = pair.split('=');
  return { name, value, attributes: Object.fromEntries(attributes.map((text) => text.split('='))) };
};

test('registering signs in by cookie and by token, logging out ends the session, and login starts another', async () => {
  useFakeClock('2027-03-10T12:00:00.000Z');
  const registered = await signIn('register', {
    email: '  Ada.Lovelace@Example.COM ',
    password: PASSWORD,
    name: 'Ada',
  });
  expect(registered.status).toBe(201);
  const ada = registered.body.account;
  const details = {
    ...ada,
    pending_email: null,
    two_factor: false,
    two_factor_reset_at: null,
    muted_emails: [],
    moving_to: null,
    branches: [],
  };
  expect(registered.body).toEqual({
    account: {
      id: expect.stringMatching(/^acct_[0-9A-Za-z]{20}$/),
      email: 'ada.lovelace@example.com',
      email_verified: false,
      name: 'Ada',
      plan: 'free',
      home_region: null,
      created_at: '2027-03-10T12:00:00.000Z',
    },
    session: {
      token: expect.stringMatching(/^lks_[0-9A-Za-z]{54}$/),
      expires_at: '2027-04-09T12:00:00.000Z',
    },
  });
  const first: string = registered.body.session.token;
  expect(cookieOf(registered)).toEqual({
    name: '__Host-session',
    value: first,
    attributes: {
      Path: '/',
      HttpOnly: undefined,
      Secure: undefined,
      SameSite: 'Lax',
      Expires: 'Fri, 09 Apr 2027 12:00:00 GMT',
    },
  });
  for (const answer of [await byCookie(first), await byBearer(first)]) {
    expect([answer.status, answer.body]).toEqual([200, details]);
  }

  const loggedOut = await call('POST', '/api/logout', { headers: { cookie: `__Host-session=${first}` } });
  expect([loggedOut.status, loggedOut.body]).toEqual([200, { logged_out: true }]);
  expect(cookieOf(loggedOut)).toMatchObject({
    name: '__Host-session',
    value: '',
    attributes: { 'Max-Age': '0' },
  });
  for (const answer of [await byCookie(first), await byBearer(first)]) {
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_session']);
  }

  const loggedIn = await signIn('login', { email: 'ADA.lovelace@example.com', password: PASSWORD });
  expect([loggedIn.status, loggedIn.body.account]).toEqual([200, ada]);
  expect(cookieOf(loggedIn).value).toBe(loggedIn.body.session.token);
  expect(loggedIn.body.session.token).not.toBe(first);
  expect((await byCookie(loggedIn.body.session.token)).body).toEqual(details);
});

test('over plain http the cookie is named session and is not Secure', async () => {
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    exports.default.fetch(`http://localhost:8787${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'cf-connecting-ip': freshAddress(), ...headers },
    });
  const registered = await send('/api/register', { email: 'local@example.com', password: PASSWORD });
  const { name, value, attributes } = cookieOf(registered);
  expect(name).toBe('session');
  expect(Object.keys(attributes).toSorted()).toEqual(['Expires', 'HttpOnly', 'Path', 'SameSite']);
  const headers = { cookie: `session=${value}`, origin: 'http://localhost:8787' };
  const { status } = await exports.default.fetch('http://localhost:8787/api/account', { headers });
  expect(status).toBe(200);
  // Without the __Host- prefix a sibling domain could set the cookie, so https ignores this name.
  expect((await account({ cookie: `session=${value}` })).body.error.code).toBe('api_key_required');
  const loggedOut = await send('/api/logout', {}, headers);
  expect(cookieOf(loggedOut)).toMatchObject({ name: 'session', value: '' });
});

test('a login starts a new session and ends only the session sent with it', async () => {
  const { email, password, token: workToken } = await register();
  const loginAtHome = await signIn('login', { email, password });
  const homeToken: string = loginAtHome.body.session.token;
  const secondLogin = await signIn('login', { email, password }, { cookie: `__Host-session=${homeToken}` });
  const renewed: string = secondLogin.body.session.token;
  expect(new Set([workToken, homeToken, renewed]).size).toBe(3);
  expect((await byCookie(homeToken)).status).toBe(401);
  expect((await byCookie(renewed)).status).toBe(200);
  expect((await byBearer(workToken)).status).toBe(200);

  // A failed login ends no session.
  const failed = await signIn(
    'login',
    { email, password: 'wrong horse battery' },
    { authorization: `Bearer ${renewed}` },
  );
  expect([failed.status, failed.headers.getSetCookie()]).toEqual([401, []]);
  expect((await byBearer(renewed)).status).toBe(200);

  await call('POST', '/api/logout', { headers: { authorization: `Bearer ${renewed}` } });
  expect((await byBearer(renewed)).status).toBe(401);
  expect((await byBearer(workToken)).status).toBe(200);
});

test('a session expires after exactly 30 days, and the next login deletes its row', async () => {
  const startMs = Date.parse('2027-05-01T08:00:00.000Z');
  useFakeClock(startMs);
  const { email, password, token, accountId } = await register();
  vi.setSystemTime(startMs + 30 * DAY_MS - 1);
  expect((await byBearer(token)).status).toBe(200);
  vi.setSystemTime(startMs + 30 * DAY_MS);
  for (const answer of [await byBearer(token), await byCookie(token)]) {
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_session']);
  }
  vi.setSystemTime(startMs + 30 * DAY_MS + 1);
  expect((await signIn('login', { email, password })).status).toBe(200);
  const { results } = await firstD1
    .prepare('SELECT created_at FROM sessions WHERE account_id = ?')
    .bind(accountId)
    .all();
  expect(results).toEqual([{ created_at: startMs + 30 * DAY_MS + 1 }]);
});

test('the database holds session tokens and passwords only as hashes', async () => {
  const password = 'a password to look for 7!';
  const registered = await signIn('register', { email: 'hashed@example.com', password });
  const loggedIn = await signIn('login', { email: 'hashed@example.com', password });
  const tokens: string[] = [registered.body.session.token, loggedIn.body.session.token];
  const stored = await dumpDatabase();
  expect(stored).toContain('hashed@example.com');
  expectAbsent(stored, [password, ...tokens, ...tokens.map((token) => token.slice(4))]);
});

test('ten parallel registrations of one email make one account and nine email_taken errors', async () => {
  const email = 'race@example.com';
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      signIn('register', { email: i % 2 ? email : email.toUpperCase(), password: `${PASSWORD} ${i}` }),
    ),
  );
  const [winner, ...otherWinners] = answers.filter(({ status }) => status === 201);
  expect(otherWinners).toEqual([]);
  for (const { status, body, headers } of answers.filter((answer) => answer !== winner)) {
    expect([status, body.error.code, headers.getSetCookie()]).toEqual([409, 'email_taken', []]);
  }
  const accounts = await accountsD1.prepare('SELECT id FROM accounts WHERE email = ?').bind(email).all();
  const [users, sessions] = await firstD1.batch([
    firstD1.prepare('SELECT account_id AS id FROM users WHERE email = ?').bind(email),
    firstD1.prepare('SELECT account_id FROM sessions WHERE account_id = ?').bind(winner?.body.account.id),
  ]);
  for (const table of [accounts, users]) expect(table?.results).toEqual([{ id: winner?.body.account.id }]);
  expect(sessions?.results).toHaveLength(1);
});

test.for([
  { name: 'an email without an @', field: 'email', body: { ...VALID, email: 'not-an-address' } },
  {
    name: 'an email of 262 characters',
    field: 'email',
    body: { ...VALID, email: `${'a'.repeat(250)}@example.com` },
  },
  { name: 'a missing email', field: 'email', body: { password: PASSWORD } },
  { name: 'a password of 9 characters', field: 'password', body: { ...VALID, password: 'nine char' } },
  { name: 'a password of 257 characters', field: 'password', body: { ...VALID, password: 'x'.repeat(257) } },
  { name: 'a numeric password', field: 'password', body: { ...VALID, password: 1_234_567_890 } },
  { name: 'a blank name', field: 'name', body: { ...VALID, name: ' ' } },
  { name: 'a name of 201 characters', field: 'name', body: { ...VALID, name: 'x'.repeat(201) } },
  { name: 'an unknown field', field: 'plan', body: { ...VALID, plan: 'scale' } },
])('registering with $name answers 400 and names the field $field', async ({ field, body }) => {
  const { status, body: response } = await signIn('register', body);
  expect([status, response.error.code, response.error.details[0].path]).toEqual([
    400,
    'invalid_request',
    field,
  ]);
});

test.for([
  { name: 'a password of 256 characters', body: { ...VALID, password: 'x'.repeat(256), name: null } },
  { name: 'a password of 10 characters', body: { email: 'ten@example.com', password: 'ten chars!' } },
])('registering with $name succeeds', async ({ body }) => {
  expect((await signIn('register', body)).status).toBe(201);
});

test('an address signs in by each spelling by which it can be registered', async () => {
  const spellings = ['Ada@M\u00fcller.example', 'ada@mu\u0308ller.example', 'ada@xn--mller-kva.example'];
  expect((await signIn('register', { email: spellings[2], password: PASSWORD })).status).toBe(201);
  for (const email of spellings) {
    const { status, body } = await signIn('login', { email, password: PASSWORD });
    expect([status, body.account?.email]).toEqual([200, 'ada@m\u00fcller.example']);
  }
});
