import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { outcomeOf, signUp } from '../support/client.ts';
import { doBefore } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { mailsTo } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { asVisitor, login, verifyAddress, withToken } from '../support/sign-in.ts';
import { waitUntil } from '../support/wait-until.ts';

beforeEach(() => {
  useFakeClock();
  onTestFinished(withOperatorToken());
});

const CHANGES_AT = '2027-03-12T12:00:00.000Z';
const change = (accountId: string, email: string) =>
  asOperator('POST', `/operator/accounts/${accountId}/change-email`, { email });
const subjectsTo = (email: string) => mailsTo(email).map(({ subject }) => subject);

let addresses = 0;
const freshEmail = (name: string) => `${name}-${++addresses}@example.com`;

const open = async () => {
  const ada = await signUp();
  await verifyAddress(ada.accountId);
  return { ada, newEmail: freshEmail('ada-new') };
};

test('the address changes 48 hours after the operator asks for it, and the old one is told both times', async () => {
  const { ada, newEmail } = await open();
  const answer = await change(ada.accountId, newEmail);
  expect([answer.status, answer.body]).toMatchObject([
    200,
    { id: ada.accountId, email: ada.email, new_email: newEmail, email_changes_at: CHANGES_AT },
  ]);
  await waitUntil(() => subjectsTo(ada.email).includes('Your email address is about to change'));
  vi.advanceTimersByTime(HOUR_MS);
  expect((await change(ada.accountId, newEmail)).body.email_changes_at).toBe(CHANGES_AT);
  vi.advanceTimersByTime(47 * HOUR_MS - 60_000);
  await runHourly();
  expect(outcomeOf(await login(newEmail, ada.password))).toBe('401 invalid_credentials');
  vi.advanceTimersByTime(60_000);
  await runHourly();
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('401 invalid_credentials');
  expect(outcomeOf(await login(newEmail, ada.password))).toBe('200 ok');
  expect(subjectsTo(ada.email)).toContain('Your email address has changed');
  const { body } = await ada.asSession('GET', '/api/account');
  expect(body).toMatchObject({ email: newEmail, email_verified: true });
  const entries = (await ada.asSession('GET', '/api/audit-log')).body.data;
  expect(
    entries.map(({ action, actor }: { action: string; actor: { kind: string } }) => [action, actor.kind]),
  ).toEqual(
    expect.arrayContaining([
      ['email.request_change', 'operator'],
      ['email.change', 'system'],
    ]),
  );
});

test('signing in stops the change, and another address starts the 48 hours anew', async () => {
  const { ada, newEmail } = await open();
  await change(ada.accountId, newEmail);
  vi.advanceTimersByTime(47 * HOUR_MS);
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok');
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok');
  await change(ada.accountId, newEmail);
  vi.advanceTimersByTime(HOUR_MS);
  const other = freshEmail('ada-other');
  expect((await change(ada.accountId, other)).body.email_changes_at).toBe('2027-03-14T13:00:00.000Z');
  vi.advanceTimersByTime(47 * HOUR_MS);
  await runHourly();
  expect((await ada.asSession('GET', '/api/account')).body.email).toBe(ada.email);
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  expect((await ada.asSession('GET', '/api/account')).body.email).toBe(other);
});

test('a change that signing in stops while the operator asks for it again starts its 48 hours anew', async () => {
  const { ada, newEmail } = await open();
  await change(ada.accountId, newEmail);
  vi.advanceTimersByTime(47 * HOUR_MS);
  const isStopped = doBefore(/insert into "audit_log"/, async () =>
    expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok'),
  );
  const { body } = await change(ada.accountId, newEmail);
  expect([isStopped(), body.email_changes_at]).toEqual([true, '2027-03-14T11:00:00.000Z']);
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  expect((await ada.asSession('GET', '/api/account')).body.email).toBe(ada.email);
});

test('an address that another account has is refused, also if it gets it meanwhile', async () => {
  const { ada, newEmail } = await open();
  const bob = await signUp();
  expect(outcomeOf(await change(ada.accountId, bob.email))).toBe('409 email_taken');
  expect(outcomeOf(await change(ada.accountId, ada.email))).toBe('400 invalid_request');
  expect(outcomeOf(await change('acct_00000000000000000000', newEmail))).toBe('404 not_found');
  await change(ada.accountId, newEmail);
  const carol = await asVisitor('/api/register', { email: newEmail, password: ada.password });
  expect(carol.status).toBe(201);
  vi.advanceTimersByTime(48 * HOUR_MS);
  await runHourly();
  await runHourly();
  expect((await ada.asSession('GET', '/api/account')).body.email).toBe(ada.email);
  expect((await withToken(carol.body.session.token)).body.email).toBe(newEmail);
});
