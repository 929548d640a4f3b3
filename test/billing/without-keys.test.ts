import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import { endCharges } from '../../src/erasure/account.ts';
import { SYSTEM } from '../../src/shared/rules/audit.ts';
import { addMonths, DAY_MS } from '../../src/shared/rules/dates.ts';
import { accountsD1 } from '../support/databases.ts';
import { finishErasure, runErasureAlarm } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { invoice, items } from '../support/stripe-objects.ts';
import { month, refuseRefunds, signUpWithStripe, stripeEnv, type StripePayer } from '../support/stripe.ts';

// The service has sold plans with Stripe before, and its operator has removed Stripe's keys.

const START_MS = Date.UTC(2027, 0, 10, 12);

beforeEach(() => {
  useFakeClock(START_MS);
});

const isLeft = async (accountId: string) =>
  (await accountsD1.prepare('SELECT id FROM accounts WHERE id = ?').bind(accountId).first()) !== null;

const deleteAccount = async (ada: StripePayer) => {
  const proof = { current_password: ada.password, confirm: ada.email };
  expect((await ada.callApi('DELETE', '/api/account', proof, env)).status).toBe(202);
};

/** Takes the step before the account's rows go, once the keys are there. */
const endWithKeys = ({ accountId }: StripePayer) => {
  const db = databaseOf(stripeEnv(), accountId);
  return endCharges({ env: stripeEnv(), db, accountId, key: null, actor: SYSTEM, ip: null });
};

test('without Stripe’s keys an owner can delete the account, and it is erased once the keys are there', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  await ada.callApi('POST', '/api/cancel-subscription');
  const overMs = addMonths(START_MS, 1) + DAY_MS;
  vi.setSystemTime(overMs);
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const isToldOf = () => logged.mock.calls.some(([line]) => String(line).includes('provider_not_configured'));

  await deleteAccount(ada);
  expect(isToldOf()).toBe(true);
  logged.mockClear();
  vi.setSystemTime(overMs + 7 * DAY_MS);
  for (let alarms = 0; alarms < 3; alarms++) await runErasureAlarm(ada.accountId);
  expect(isToldOf()).toBe(true);
  expect(await isLeft(ada.accountId)).toBe(true);

  expect(await endWithKeys(ada)).toBeNull();
  expect((await atStripe.put())['status']).toBe('canceled');
  await atStripe.end();
  await finishErasure(ada.accountId);
  expect(await isLeft(ada.accountId)).toBe(false);
});

test('what a deleted account is charged while Stripe’s keys are missing is given back once they are there', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const renewalMs = addMonths(START_MS, 1);
  vi.setSystemTime(renewalMs - DAY_MS);
  await deleteAccount(ada);
  vi.setSystemTime(renewalMs + 6 * DAY_MS);
  const next = month(renewalMs, { billing_reason: 'subscription_cycle' });
  await atStripe.put({ items: items(next), latest_invoice: invoice(next, atStripe.id) });

  expect(await endWithKeys(ada)).toBeNull();
  expect((await atStripe.put())['status']).toBe('canceled');
  expect((await ada.billingRows()).payments).toMatchObject([{ status: 'paid' }, { status: 'refunded' }]);
  expect((await refuseRefunds(next.id, false))['refunds_made']).toBe(1);
});
