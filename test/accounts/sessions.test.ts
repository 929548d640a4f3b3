import { env, exports } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { type Answer, call, freshAddress, register } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { everythingInD1, expectNone } from '../http/security.ts';

const DAY_MS = 86_400_000;
const PASSWORD = 'correct horse battery';

const signIn = (verb: 'register' | 'login', body: object, headers: Record<string, string> = {}) =>
  call('POST', `/api/${verb}`, { body, headers: { 'cf-connecting-ip': freshAddress(), ...headers } });

const account = (headers: Record<string, string>) => call('GET', '/api/account', { headers });
const byCookie = (token: string) => account({ cookie: `theme=dark; __Host-session=${token}` });
const byBearer = (token: string) => account({ authorization: `Bearer ${token}` });

/** The cookie that an answer sets, with its attributes by name. */
const cookieOf = ({ headers }: Pick<Answer, 'headers'>) => {
  const [set, ...others] = headers.getSetCookie();
  expect(others).toEqual([]);
  const [pair = '', ...attributes] = (set ?? '').split('; ');
  const [name = '', value = ''] = pair.split('=');
  const byName = Object.fromEntries(attributes.map((one) => one.split('=')));
  return { name, value, attributes: byName };
};

test('a person registers, is known by cookie and by token, logs out, and comes back', async () => {
  useFakeClock('2027-03-10T12:00:00.000Z');
  const registered = await signIn('register', {
    email: '  Ada.Lovelace@Example.COM ',
    password: PASSWORD,
    name: 'Ada',
  });
  expect(registered.status).toBe(201);
  const ada = registered.body.account;
  expect(registered.body).toEqual({
    account: {
      id: expect.stringMatching(/^acct_[0-9A-Za-z]{20}$/),
      email: 'ada.lovelace@example.com',
      name: 'Ada',
      plan: 'free',
      created_at: '2027-03-10T12:00:00.000Z',
    },
    session: {
      token: expect.stringMatching(/^lks_[0-9A-Za-z]{43}$/),
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
    expect([answer.status, answer.body]).toEqual([200, ada]);
  }

  const out = await call('POST', '/api/logout', { headers: { cookie: `__Host-session=${first}` } });
  expect([out.status, out.body]).toEqual([200, { logged_out: true }]);
  expect(cookieOf(out)).toMatchObject({ name: '__Host-session', value: '', attributes: { 'Max-Age': '0' } });
  for (const answer of [await byCookie(first), await byBearer(first)]) {
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_session']);
  }

  const back = await signIn('login', { email: 'ADA.lovelace@example.com', password: PASSWORD });
  expect([back.status, back.body.account]).toEqual([200, ada]);
  expect(cookieOf(back).value).toBe(back.body.session.token);
  expect(back.body.session.token).not.toBe(first);
  expect((await byCookie(back.body.session.token)).body).toEqual(ada);
});

test('over plain http, where browsers refuse the other, the cookie is named session', async () => {
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
  const own = { cookie: `session=${value}`, origin: 'http://localhost:8787' };
  const { status } = await exports.default.fetch('http://localhost:8787/api/account', { headers: own });
  expect(status).toBe(200);
  // On https that name is anybody's to set, so it is not read there.
  expect((await account({ cookie: `session=${value}` })).body.error.code).toBe('api_key_required');
  const out = await send('/api/logout', {}, own);
  expect(cookieOf(out)).toMatchObject({ name: 'session', value: '' });
});

test('each login makes a new session and ends the one that came with it, and no other', async () => {
  const { email, password, token: atWork } = await register();
  const atHome = await signIn('login', { email, password });
  const home: string = atHome.body.session.token;
  const again = await signIn('login', { email, password }, { cookie: `__Host-session=${home}` });
  const renewed: string = again.body.session.token;
  expect(new Set([atWork, home, renewed]).size).toBe(3);
  expect((await byCookie(home)).status).toBe(401);
  expect((await byCookie(renewed)).status).toBe(200);
  expect((await byBearer(atWork)).status).toBe(200);

  // A login that fails takes nothing away.
  const failed = await signIn(
    'login',
    { email, password: 'wrong horse battery' },
    { authorization: `Bearer ${renewed}` },
  );
  expect([failed.status, failed.headers.getSetCookie()]).toEqual([401, []]);
  expect((await byBearer(renewed)).status).toBe(200);

  await call('POST', '/api/logout', { headers: { authorization: `Bearer ${renewed}` } });
  expect((await byBearer(renewed)).status).toBe(401);
  expect((await byBearer(atWork)).status).toBe(200);
});

test('a session ends after thirty days to the millisecond, and its row is cleared away', async () => {
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
  const { results } = await env.DB.prepare('SELECT created_at FROM sessions WHERE account_id = ?')
    .bind(accountId)
    .all();
  expect(results).toEqual([{ created_at: startMs + 30 * DAY_MS + 1 }]);
});

test('the database knows sessions and passwords only as hashes', async () => {
  const password = 'a password to look for 7!';
  const registered = await signIn('register', { email: 'hashed@example.com', password });
  const again = await signIn('login', { email: 'hashed@example.com', password });
  const tokens: string[] = [registered.body.session.token, again.body.session.token];
  const stored = await everythingInD1();
  expect(stored).toContain('hashed@example.com');
  expectNone(stored, [password, ...tokens, ...tokens.map((token) => token.slice(4))]);
});

test('ten people who register one e-mail at once make one account, and nine hear that it is taken', async () => {
  const email = 'race@example.com';
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      signIn('register', { email: i % 2 ? email : email.toUpperCase(), password: `${PASSWORD} ${i}` }),
    ),
  );
  const [winner, ...second] = answers.filter(({ status }) => status === 201);
  expect(second).toEqual([]);
  for (const { status, body, headers } of answers.filter((answer) => answer !== winner)) {
    expect([status, body.error.code, headers.getSetCookie()]).toEqual([409, 'email_taken', []]);
  }
  const [accounts, sessions] = await env.DB.batch([
    env.DB.prepare('SELECT id FROM accounts WHERE email = ?').bind(email),
    env.DB.prepare('SELECT account_id FROM sessions WHERE account_id = ?').bind(winner?.body.account.id),
  ]);
  expect(accounts?.results).toEqual([{ id: winner?.body.account.id }]);
  expect(sessions?.results).toHaveLength(1);
});

test('a registration that does not fit says which field is at fault', async () => {
  const good = { email: 'fits@example.com', password: PASSWORD };
  const unfit: [field: string, body: object][] = [
    ['email', { ...good, email: 'not-an-address' }],
    ['email', { ...good, email: `${'a'.repeat(250)}@example.com` }],
    ['email', { password: PASSWORD }],
    ['password', { ...good, password: 'nine char' }],
    ['password', { ...good, password: 'x'.repeat(257) }],
    ['password', { ...good, password: 1_234_567_890 }],
    ['name', { ...good, name: ' ' }],
    ['name', { ...good, name: 'x'.repeat(201) }],
    ['plan', { ...good, plan: 'scale' }],
  ];
  for (const [field, body] of unfit) {
    const { status, body: said } = await signIn('register', body);
    expect([status, said.error.code, said.error.details[0].path]).toEqual([400, 'invalid_request', field]);
  }
  expect((await signIn('register', { ...good, password: 'x'.repeat(256), name: null })).status).toBe(201);
  expect((await signIn('register', { email: 'ten@example.com', password: 'ten chars!' })).status).toBe(201);
});
