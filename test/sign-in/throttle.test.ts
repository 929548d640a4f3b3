import { beforeEach, expect, test, vi } from 'vitest';
import { registerLimits } from '../../src/users/limits.ts';
import { consumeAttempts } from '../../src/users/throttle.ts';
import { dumpDatabase, expectAbsent } from '../http/security.ts';
import { type Answer, call, freshAddress, PASSWORD, register } from '../support/client.ts';
import { firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { login } from '../support/sign-in.ts';

const MINUTE_MS = 60_000;

beforeEach(() => {
  useFakeClock();
});

let accountCount = 0;

const registerFrom = (ip: string) =>
  call('POST', '/api/register', {
    body: { email: `throttled-${++accountCount}@example.com`, password: PASSWORD },
    headers: { 'cf-connecting-ip': ip },
  });

const runInParallel = (times: number, attempt: (i: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: times }, (_, i) => attempt(i)));

const countStatuses = (answers: Answer[]) => {
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  return { 200: count(200), 201: count(201), 401: count(401), 429: count(429) };
};
const NO_STATUSES = { 200: 0, 201: 0, 401: 0, 429: 0 };

const expectThrottled = ({ status, body, headers }: Answer, retryAfterSeconds: number) => {
  expect([status, body.error.code, body.error.message]).toEqual([
    429,
    'rate_limit_exceeded',
    'Rate Limit Exceeded',
  ]);
  expect(headers.get('retry-after')).toBe(String(retryAfterSeconds));
  expect(headers.getSetCookie()).toEqual([]);
};

test('one IP address can register 60 accounts per hour, and an IPv6 /64 network counts as one address', async () => {
  const spellings = ['2001:db8:0:7::', '2001:0DB8:0000:0007:0:0:0:', '2001:db8:0:7:ffff:1:2:'];
  const inNetwork = (i: number) => `${spellings[i % 3]}${(i + 1).toString(16)}`;
  // The first 50 attempts skip the endpoint, which would store an account for each.
  await Promise.all(
    Array.from({ length: 50 }, () => consumeAttempts(publicCtx, registerLimits('2001:db8:0:7'))),
  );
  const answers = await runInParallel(20, (i) => registerFrom(inNetwork(i)));
  expect(countStatuses(answers)).toEqual({ ...NO_STATUSES, 201: 10, 429: 10 });

  // The refusal comes before the password is hashed, and a password is normalized before that.
  const normalize = vi.spyOn(String.prototype, 'normalize');
  for (let i = 0; i < 20; i++) expectThrottled(await registerFrom(inNetwork(i)), 3_600);
  expect(normalize).not.toHaveBeenCalledWith('NFKC');
  normalize.mockRestore();

  expect((await registerFrom('2001:db8:0:8::1')).status).toBe(201);
  expectThrottled(await registerFrom('2001:db8::7:0:0:0:1'), 3_600);
  vi.advanceTimersByTime(50 * MINUTE_MS);
  expectThrottled(await registerFrom(inNetwork(0)), 600);
  vi.advanceTimersByTime(10 * MINUTE_MS + 1);
  expect((await registerFrom(inNetwork(0))).status).toBe(201);
});

test('ten wrong passwords within 15 minutes block every login to that email address', async () => {
  const [{ email }, { email: other }] = [await register(), await register()];
  expect(countStatuses(await runInParallel(30, () => login(email, 'wrong horse battery')))).toEqual({
    ...NO_STATUSES,
    401: 10,
    429: 20,
  });
  expectThrottled(await login(email, PASSWORD), 900);
  expectThrottled(await login(`  ${email.toUpperCase()} `, PASSWORD), 900);
  expect((await login(other, PASSWORD)).status).toBe(200);

  // The refusal comes before the hash is read: an unreadable hash would answer 500.
  const corruptHash = firstD1.prepare("UPDATE users SET password_hash = 'none' WHERE email = ?");
  const { results } = await firstD1
    .prepare('SELECT password_hash AS hash FROM users WHERE email = ?')
    .bind(email)
    .all<{ hash: string }>();
  await corruptHash.bind(email).run();
  expectThrottled(await login(email, PASSWORD), 900);
  await firstD1
    .prepare('UPDATE users SET password_hash = ? WHERE email = ?')
    .bind(results[0]?.hash, email)
    .run();

  vi.advanceTimersByTime(14 * MINUTE_MS);
  expectThrottled(await login(email, PASSWORD), 60);
  vi.advanceTimersByTime(MINUTE_MS + 1);
  expect((await login(email, PASSWORD)).status).toBe(200);
});

test('100 wrong passwords block logins from that IP address to every account', async () => {
  const emails = await Promise.all(Array.from({ length: 12 }, async () => (await register()).email));
  const ip = freshAddress();
  const guess = (i: number) => login(emails[Math.floor(i / 10)] ?? '', 'wrong horse battery', ip);
  expect(countStatuses(await runInParallel(100, guess))).toEqual({ ...NO_STATUSES, 401: 100 });
  const last = emails.at(-1) ?? '';
  expectThrottled(await login(last, PASSWORD, ip), 900);
  expect((await login(last, PASSWORD, freshAddress())).status).toBe(200);
  vi.advanceTimersByTime(15 * MINUTE_MS + 1);
  expect((await login(last, PASSWORD, ip)).status).toBe(200);
});

test('only failed logins count toward the limit', async () => {
  const { email } = await register();
  const ip = freshAddress();
  for (let i = 0; i < 9; i++) expect((await login(email, 'wrong horse battery', ip)).status).toBe(401);
  for (let i = 0; i < 3; i++) expect((await login(email, PASSWORD, ip)).status).toBe(200);
  expect((await login(email, 'wrong horse battery', ip)).status).toBe(401);
  expectThrottled(await login(email, PASSWORD, ip), 900);
});

test('throttled email and IP addresses are stored as hashes and deleted after their window', async () => {
  // Emails are counted for a day.
  vi.advanceTimersByTime(48 * 60 * MINUTE_MS);
  await login('throttled-by-name@example.com', 'wrong horse battery', '203.0.113.77');
  const stored = await dumpDatabase();
  expectAbsent(stored, ['throttled-by-name@example.com', '203.0.113.77']);
  // Not the attempts of a test that set the clock further ahead.
  const query = firstD1.prepare('SELECT count(*) AS n FROM throttles WHERE expires_at <= ?');
  const count = await query.bind(Date.now() + 60 * MINUTE_MS).first<number>('n');
  // Failures by email and by address, and successes by email.
  expect(count).toBe(3);
});
