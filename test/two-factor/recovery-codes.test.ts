import { beforeEach, expect, test, vi } from 'vitest';
import { outcomeOf, register } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asVisitor } from '../support/sign-in.ts';
import { registerTwoFactor } from '../support/two-factor.ts';

const STEP_MS = 30_000;

beforeEach(() => useFakeClock());

/** An account with two-factor authentication on, as of the step before. */
const enable = async () => {
  const ada = await registerTwoFactor();
  vi.advanceTimersByTime(STEP_MS);
  const answer = (challenge: string, code: string) => asVisitor('/api/login/two-factor', { challenge, code });
  return { ...ada, answer };
};

test('new recovery codes want the password and a code, and those of before end', async () => {
  const ada = await enable();
  const replace = async (fields: object) => {
    const body = { current_password: ada.password, code: ada.recoveryCodes[0], ...fields };
    return ada.asSession('POST', '/api/two-factor/recovery-codes', body);
  };
  expect(outcomeOf(await replace({ current_password: 'wrong' }))).toBe('401 invalid_credentials');
  expect(outcomeOf(await replace({ code: ada.code(9) }))).toBe('401 invalid_credentials');
  const { status, body, headers } = await replace({});
  const codes: string[] = body.recovery_codes;
  expect([status, headers.get('cache-control'), new Set(codes).size]).toEqual([200, 'no-store', 10]);
  expect(outcomeOf(await ada.answer(await ada.challenge(), ada.recoveryCodes[1] ?? ''))).toBe(
    '401 invalid_credentials',
  );
  expect(outcomeOf(await ada.answer(await ada.challenge(), codes[0] ?? ''))).toBe('200 ok');
  // The same code gives codes once, also in parallel.
  const answers = await Promise.all([replace({ code: ada.code() }), replace({ code: ada.code() })]);
  expect(answers.map(outcomeOf).toSorted()).toEqual(['200 ok', '401 invalid_credentials']);
  const { results } = await firstD1
    .prepare("SELECT action FROM audit_log WHERE account_id = ? AND action LIKE 'recovery_code%' ORDER BY id")
    .bind(ada.accountId)
    .all();
  expect(results.map(({ action }) => action)).toEqual([
    'recovery_code.replace',
    'recovery_code.use',
    'recovery_code.replace',
  ]);
});

test('two-factor authentication that is off has no recovery codes to replace', async () => {
  const bob = await register();
  const body = { current_password: bob.password, code: '123456' };
  expect(outcomeOf(await bob.asSession('POST', '/api/two-factor/recovery-codes', body))).toBe(
    '409 invalid_transition',
  );
});

test('deleting an account with two-factor authentication uses up a code', async () => {
  const ada = await enable();
  const remove = async (code?: string) =>
    ada.asSession('DELETE', '/api/account', { current_password: ada.password, confirm: ada.email, code });
  const missing = await remove();
  expect([outcomeOf(missing), missing.body.error.details[0].path]).toEqual(['400 invalid_request', 'code']);
  expect(outcomeOf(await remove(ada.code(9)))).toBe('401 invalid_credentials');
  expect(outcomeOf(await remove(ada.code()))).toBe('202 ok');
  expect(outcomeOf(await ada.answer(await ada.challenge(), ada.code()))).toBe('401 invalid_credentials');
});
