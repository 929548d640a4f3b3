import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { loginLimits } from '../../src/users/limits.ts';
import { consumeAttempts, settleAttempt } from '../../src/users/throttle.ts';
import { type Answer, freshAddress, outcomeOf, PASSWORD, register } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { addSession, login, withToken } from '../support/sign-in.ts';
import { waitUntil } from '../support/wait-until.ts';

const MINUTE_MS = 60_000;
const WRONG_PASSWORD = 'wrong horse battery';

beforeEach(() => {
  useFakeClock();
});

const inParallel = (times: number, attempt: () => Promise<Answer>) =>
  Promise.all(Array.from({ length: times }, attempt));

const countStatuses = (answers: Answer[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

test('refused logins to one email do not lock out other accounts behind the same address', async () => {
  const [{ email }, { email: other }] = [await register(), await register()];
  const ip = freshAddress();
  for (let i = 0; i < 10; i++) expect((await login(email, WRONG_PASSWORD, ip)).status).toBe(401);
  expect(countStatuses(await inParallel(150, () => login(email, WRONG_PASSWORD, ip)))).toEqual({ 429: 150 });
  expect((await login(other, PASSWORD, ip)).status).toBe(200);
});

test('a flood of refused logins queries D1 not at all', async () => {
  const { email } = await register();
  for (let i = 0; i < 10; i++) await login(email, WRONG_PASSWORD);
  const { result, statements } = await recordStatements(() => inParallel(100, () => login(email, PASSWORD)));
  expect(countStatuses(result)).toEqual({ 429: 100 });
  expect(statements).toEqual([]);
});

test('an isolate that does not remember the refusal reads it from D1 and writes nothing', async () => {
  const { email } = await register();
  for (let i = 0; i < 9; i++) await login(email, WRONG_PASSWORD);
  // Another isolate counts the tenth failure.
  await firstD1.prepare('UPDATE throttles SET attempts = 10 WHERE attempts = 9').run();
  const before = await firstD1.prepare('SELECT * FROM throttles ORDER BY bucket').all();
  const ip = freshAddress();
  const { result, statements } = await recordStatements(async () => [
    await login(email, PASSWORD, ip),
    await login(email, PASSWORD, ip),
  ]);
  expect(countStatuses(result)).toEqual({ 429: 2 });
  expect(statements).toHaveLength(2);
  expect((await firstD1.prepare('SELECT * FROM throttles ORDER BY bucket').all()).results).toEqual(
    before.results,
  );
});

test('an email address may sign in 60 times an hour, also in parallel', async () => {
  const { email } = await register();
  // The first 50 skip the endpoint, which would store a session for each.
  for (let i = 0; i < 50; i++) {
    const reservations = await consumeAttempts(publicCtx, loginLimits(freshAddress(), email));
    await settleAttempt(publicCtx, reservations, 'success');
  }
  expect(countStatuses(await inParallel(15, () => login(email, PASSWORD)))).toEqual({ 200: 10, 429: 5 });
  const refused = await login(email, PASSWORD);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
  vi.advanceTimersByTime(60 * MINUTE_MS);
  expect((await login(email, PASSWORD)).status).toBe(200);
});

test('at most 100 logins of an isolate wait for others, because each of them queries D1 once a second', async () => {
  const { email } = await register();
  await login(email, WRONG_PASSWORD);
  await firstD1.prepare('UPDATE throttles SET pending = 9').run();
  let refused = 0;
  const logins = inParallel(130, async () => {
    const answer = await login(email, PASSWORD);
    if (answer.status === 429) refused++;
    return answer;
  });
  await waitUntil(() => refused === 30);
  await firstD1.prepare('UPDATE throttles SET attempts = 100, pending = 0').run();
  expect(countStatuses(await logins)).toEqual({ 429: 130 });
});

test('parallel logins with the right password all succeed, and none counts as a failure', async () => {
  const { email } = await register();
  expect(countStatuses(await inParallel(15, () => login(email, PASSWORD)))).toEqual({ 200: 15 });
  for (let i = 0; i < 10; i++) expect((await login(email, WRONG_PASSWORD)).status).toBe(401);
  expect((await login(email, PASSWORD)).status).toBe(429);
});

test('an attempt whose isolate dies takes up room for a minute at most', async () => {
  const { email } = await register();
  const reserve = () => consumeAttempts(publicCtx, loginLimits(freshAddress(), email));
  // Ten attempts that are never settled.
  for (let i = 0; i < 10; i++) await reserve();
  vi.advanceTimersByTime(MINUTE_MS - 1);
  const waiting = reserve();
  expect(await Promise.race([waiting, scheduler.wait(100).then(() => 'waiting')])).toBe('waiting');
  vi.advanceTimersByTime(1);
  expect(await waiting).toHaveLength(3);
  expect(countStatuses(await inParallel(9, () => login(email, WRONG_PASSWORD)))).toEqual({ 401: 9 });
});

test('the 15 minutes of failed logins start with the first failure', async () => {
  const { email } = await register();
  expect((await login(email, PASSWORD)).status).toBe(200);
  vi.advanceTimersByTime(14 * MINUTE_MS);
  for (let i = 0; i < 10; i++) await login(email, WRONG_PASSWORD);
  const refused = await login(email, PASSWORD);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900']);
});

test('a login that fails with a server error counts as neither failure nor success', async () => {
  const { email } = await register();
  const setHash = (hash: string) =>
    firstD1.prepare('UPDATE users SET password_hash = ? WHERE email = ?').bind(hash, email).run();
  const hash = await firstD1
    .prepare('SELECT password_hash AS hash FROM users WHERE email = ?')
    .bind(email)
    .first<string>('hash');
  await setHash('unreadable');
  for (let i = 0; i < 12; i++) expect((await login(email, PASSWORD)).status).toBe(500);
  await setHash(hash ?? '');
  expect((await login(email, PASSWORD)).status).toBe(200);
});

/** Logs in to an account that is about to be erased, while its gate doesn't answer these calls. */
const logInCutOff = async (
  { email, accountId }: Awaited<ReturnType<typeof register>>,
  cutOff: 'announce' | 'apply',
  ip = freshAddress(),
) => {
  const confirmed = { current_password: PASSWORD, confirm: email };
  const deleted = await withToken(await addSession(accountId), 'DELETE', '/api/account', confirmed);
  expect(outcomeOf(deleted)).toBe('202 ok');
  const spy = vi.spyOn(AccountGate.prototype, cutOff).mockRejectedValue(new Error('The gate is cut off.'));
  onTestFinished(() => spy.mockRestore());
  const answer = await login(email, PASSWORD, ip);
  spy.mockRestore();
  await gate(accountId).pull();
  return answer;
};

test('a right password counts as no wrong one although the account can’t be restored at once', async () => {
  const ada = await register();
  for (let i = 0; i < 12; i++) expect(outcomeOf(await logInCutOff(ada, 'apply'))).toBe('503 unavailable');
  for (let i = 0; i < 10; i++) expect((await login(ada.email, WRONG_PASSWORD)).status).toBe(401);
  expect((await login(ada.email, PASSWORD)).status).toBe(429);
});

test('a login that fails after it has begun a session makes room for no other that is under way', async () => {
  const ada = await register();
  const ip = freshAddress();
  const limits = loginLimits(ip, ada.email);
  const [reservations = []] = await Promise.all(
    Array.from({ length: 8 }, () => consumeAttempts(publicCtx, limits)),
  );
  expect((await logInCutOff(ada, 'announce', ip)).status).toBe(500);
  const pending = await Promise.all(
    reservations.map(({ bucket }) =>
      firstD1.prepare('SELECT pending FROM throttles WHERE bucket = ?').bind(bucket).first('pending'),
    ),
  );
  expect(pending).toEqual([8, 8, 8]);
});

test('a count that v0.1.0 stored still refuses logins', async () => {
  const { email } = await register();
  await login(email, WRONG_PASSWORD);
  const update = 'UPDATE throttles SET attempts = 10 WHERE bucket = ?';
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`login-email\n${email}`));
  const bucket = new Uint8Array(digest).toBase64({ alphabet: 'base64url', omitPadding: true });
  expect((await firstD1.prepare(update).bind(bucket).run()).meta.changes).toBe(1);
  expect((await login(email, PASSWORD)).status).toBe(429);
});

test('a login deletes a limited number of expired throttles and sessions', async () => {
  const { email } = await register();
  const rows = 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 250)';
  await firstD1.batch([
    firstD1.prepare(
      `INSERT INTO throttles (bucket, attempts, expires_at) ${rows} SELECT 'old-' || i, 1, i FROM n`,
    ),
    firstD1.prepare(
      `INSERT INTO sessions (token_hash, account_id, created_at, expires_at, id, last_seen_at)
      ${rows} SELECT 'old-' || i, (SELECT account_id FROM users LIMIT 1), i, i, 'ses_' || i, i FROM n`,
    ),
  ]);
  const left = async () => [
    await firstD1.prepare("SELECT count(*) AS n FROM throttles WHERE bucket LIKE 'old-%'").first<number>('n'),
    await firstD1
      .prepare("SELECT count(*) AS n FROM sessions WHERE token_hash LIKE 'old-%'")
      .first<number>('n'),
  ];
  await login(email, PASSWORD);
  expect(await left()).toEqual([150, 150]);
  await login(email, PASSWORD);
  await login(email, PASSWORD);
  expect(await left()).toEqual([0, 0]);
});
