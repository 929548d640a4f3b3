import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { outcomeOf, register } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { mailsTo } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { asVisitor, login, verifyAddress, withToken } from '../support/sign-in.ts';
import { registerTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

beforeEach(() => {
  useFakeClock();
  onTestFinished(withOperatorToken());
});

const RESET_AT = '2027-03-12T12:00:00.000Z';
const reset = (accountId: string) => asOperator('POST', `/operator/accounts/${accountId}/reset-two-factor`);

const registerVerified = async () => {
  const ada = await registerTwoFactor();
  await verifyAddress(ada.accountId);
  return ada;
};

test('two-factor goes off 48 hours after the operator resets it, and the owner is told both times', async () => {
  const ada = await registerVerified();
  const answer = await reset(ada.accountId);
  expect(answer.body).toMatchObject({ id: ada.accountId, email: ada.email, two_factor_reset_at: RESET_AT });
  const told = (subject: string) =>
    waitUntil(() => mailsTo(ada.email).some((mail) => mail.subject === subject));
  await told('Two-factor authentication is about to be turned off');
  const shown = async () => (await ada.asSession('GET', '/api/account')).body.two_factor_reset_at;
  expect(await shown()).toBe(RESET_AT);
  vi.advanceTimersByTime(HOUR_MS);
  expect((await reset(ada.accountId)).body.two_factor_reset_at).toBe(RESET_AT);
  vi.advanceTimersByTime(47 * HOUR_MS - 60_000);
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('401 two_factor_required');
  vi.advanceTimersByTime(60_000);
  expect(outcomeOf(await login(ada.email, 'wrong'))).toBe('401 invalid_credentials');
  const signedIn = await login(ada.email, ada.password);
  expect(outcomeOf(signedIn)).toBe('200 ok');
  await told('Two-factor authentication is off');
  const { token } = signedIn.body.session;
  expect((await withToken(token)).body).toMatchObject({ two_factor: false, two_factor_reset_at: null });
  const { body } = await withToken(token, 'GET', '/api/audit-log');
  const entries = body.data.map(({ action, actor }: { action: string; actor: { kind: string } }) => [
    action,
    actor.kind,
  ]);
  expect(entries).toEqual(
    expect.arrayContaining([
      ['two_factor.request_reset', 'operator'],
      ['two_factor.reset', 'system'],
    ]),
  );
});

test.for([['a code of the app'], ['a recovery code']])('signing in with $0 stops a reset', async ([kind]) => {
  const ada = await registerVerified();
  await reset(ada.accountId);
  vi.advanceTimersByTime(47 * HOUR_MS);
  const challenge = await ada.challenge();
  const code = kind === 'a recovery code' ? ada.recoveryCodes[0] : ada.code();
  expect(outcomeOf(await asVisitor('/api/login/two-factor', { challenge, code }))).toBe('200 ok');
  vi.advanceTimersByTime(48 * HOUR_MS);
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('401 two_factor_required');
});

test('a password alone stops no reset, and a new one finds it carried out', async () => {
  const ada = await registerVerified();
  await reset(ada.accountId);
  vi.advanceTimersByTime(47 * HOUR_MS);
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('401 two_factor_required');
  vi.advanceTimersByTime(HOUR_MS);
  await asVisitor('/api/forgot-password', { email: ada.email });
  const find = () => mailsTo(ada.email).find(({ subject }) => subject === 'Reset your password');
  await waitUntil(() => find() !== undefined);
  const [, token] = /#token=(lkt_\w+)/.exec(find()?.text ?? '') ?? [];
  const answer = await asVisitor('/api/reset-password', { token, password: 'a new horse battery' });
  expect(outcomeOf(answer)).toBe('200 ok');
});

test('sign-ins at the same time carry a reset out once', async () => {
  const ada = await registerVerified();
  await reset(ada.accountId);
  vi.advanceTimersByTime(48 * HOUR_MS);
  const answers = await Promise.all(Array.from({ length: 4 }, () => login(ada.email, ada.password)));
  expect(answers.map(outcomeOf)).toEqual(Array(4).fill('200 ok'));
  const { body } = await withToken(
    answers[0]?.body.session.token,
    'GET',
    '/api/audit-log?action=two_factor.reset',
  );
  expect(body.data).toHaveLength(1);
});

test('two-factor that is off can’t be reset', async () => {
  const bob = await register();
  expect(outcomeOf(await reset(bob.accountId))).toBe('409 invalid_transition');
  expect(outcomeOf(await reset('acct_00000000000000000000'))).toBe('404 not_found');
});
