import { expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { call, freshAddress, type Json, register } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { lastMailTo, mailsTo } from '../support/mails.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

type Account = Awaited<ReturnType<typeof register>>;

const login = async ({ email, password }: Account, headers: Record<string, string> = {}) => {
  const answer = await call('POST', '/api/login', {
    body: { email, password },
    headers: { 'cf-connecting-ip': freshAddress(), 'user-agent': FIREFOX, ...headers },
  });
  expect(answer.status).toBe(200);
  const token: string = answer.body.session.token;
  const [, browser = ''] = /__Host-browser=([^;]+)/.exec(answer.headers.getSetCookie().join('\n')) ?? [];
  return { token, browser };
};

const listWith = async (token: string, headers: Record<string, string> = {}): Promise<Json[]> =>
  (await call('GET', '/api/sessions', { headers: { authorization: `Bearer ${token}`, ...headers } })).body
    .data;

test('sessions are listed with their browser and address, and each can be ended', async () => {
  useFakeClock('2027-07-01T12:00:00.000Z');
  const ada = await register();
  vi.advanceTimersByTime(1_000);
  const { token } = await login(ada, { 'cf-connecting-ip': '192.0.2.7' });
  const [newer, older] = await listWith(ada.token);
  expect(newer).toEqual({
    id: expect.stringMatching(/^ses_[0-9A-Za-z]{20}$/),
    created_at: '2027-07-01T12:00:01.000Z',
    last_seen_at: '2027-07-01T12:00:01.000Z',
    ip: '192.0.2.7',
    user_agent: FIREFOX,
    current: false,
  });
  expect(older).toMatchObject({ created_at: '2027-07-01T12:00:00.000Z', current: true });

  const ended = await ada.asSession('DELETE', `/api/sessions/${newer.id}`);
  expect([ended.status, ended.body]).toEqual([200, { id: newer.id, deleted: true }]);
  expect((await call('GET', '/api/account', { headers: { authorization: `Bearer ${token}` } })).status).toBe(
    401,
  );
  expect((await ada.asSession('DELETE', `/api/sessions/${newer.id}`)).status).toBe(404);

  const others = [await login(ada), await login(ada)];
  expect((await ada.asSession('DELETE', '/api/sessions')).body).toEqual({ ended: 2 });
  for (const other of others) {
    const headers = { authorization: `Bearer ${other.token}` };
    expect((await call('GET', '/api/account', { headers })).status).toBe(401);
  }
  expect(await listWith(ada.token)).toHaveLength(1);
  // What ends nothing leaves no entry.
  expect((await ada.asSession('DELETE', '/api/sessions')).body).toEqual({ ended: 0 });
  const audit = await ada.asSession('GET', '/api/audit-log?action=session.end');
  expect(audit.body.data).toHaveLength(2);
});

test('the last use of a session is written once an hour, with the address', async () => {
  useFakeClock('2027-07-02T12:00:00.000Z');
  const ada = await register();
  const seen = async (ip: string) => {
    const [session] = await listWith(ada.token, { 'cf-connecting-ip': ip });
    return [session.last_seen_at, session.ip];
  };
  vi.advanceTimersByTime(HOUR_MS - 1);
  await seen('192.0.2.8');
  expect(await seen('192.0.2.8')).toEqual(['2027-07-02T12:00:00.000Z', null]);
  vi.advanceTimersByTime(1);
  await seen('192.0.2.8');
  await expect.poll(() => seen('192.0.2.9')).toEqual(['2027-07-02T13:00:00.000Z', '192.0.2.8']);
});

test('only a sign-in from an unknown browser sends an email, and neither the first nor a registration does', async () => {
  const email = `browsers-${crypto.randomUUID()}@example.com`;
  const ada = { ...(await register()), email, password: 'correct horse battery' };
  const registered = await call('POST', '/api/register', { body: { email, password: ada.password } });
  const [, home = ''] = /__Host-browser=([^;]+)/.exec(registered.headers.getSetCookie().join('\n')) ?? [];
  await lastMailTo(email, 1);
  expect((await login(ada, { cookie: `__Host-browser=${home}` })).browser).toBe(home);
  await lastMailTo(email, 1);

  const work = await login(ada, { 'cf-connecting-ip': '192.0.2.10' });
  const { subject, text } = await lastMailTo(email, 2);
  expect(subject).toBe('New sign-in to your account');
  expect(text).toMatch(/Browser: Firefox on Linux\nIP address: 192\.0\.2\.10/);
  await login(ada, { cookie: `__Host-browser=${work.browser}` });

  // An account that remembers no browser.
  const old = await register();
  await firstD1.prepare('DELETE FROM known_browsers WHERE account_id = ?').bind(old.accountId).run();
  const first = await login(old);
  await login(old, { cookie: `__Host-browser=${first.browser}` });
  await login(old);
  await lastMailTo(old.email, 1);
  expect(mailsTo(email)).toHaveLength(2);
});

test('an account remembers at most 100 browsers', async () => {
  const ada = await register();
  const insert = firstD1.prepare(
    `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    INSERT INTO known_browsers SELECT ?, 'browser-' || i, i FROM n`,
  );
  await insert.bind(ada.accountId).run();
  await login(ada);
  const count = firstD1.prepare(
    'SELECT count(*) AS n, min(seen_at) AS oldest FROM known_browsers WHERE account_id = ?',
  );
  expect(await count.bind(ada.accountId).first()).toEqual({ n: 100, oldest: 23 });
});

test('sessions are listed in pages', async () => {
  const ada = await register();
  for (let i = 0; i < 2; i++) await login(ada);
  const page = async (query: string) => (await ada.asSession('GET', `/api/sessions?${query}`)).body;
  const all = await page('');
  expect([all.data.length, all.next_cursor]).toEqual([3, null]);
  const first = await page('limit=2');
  const second = await page(`limit=2&cursor=${first.next_cursor}`);
  expect([...first.data, ...second.data]).toEqual(all.data);
  expect(second.next_cursor).toBeNull();
});
