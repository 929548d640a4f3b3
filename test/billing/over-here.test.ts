import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS, HOUR_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { outcomeOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { month, signUpWithStripe, type StripePayer } from '../support/stripe.ts';

// A plan that is over here, because its renewal failed, may live on at Stripe, which goes on trying to collect for it.

const RENEWAL_MS = addMonths(Date.UTC(2027, 0, 10, 12), 1);
const OVER_MS = RENEWAL_MS + HOUR_MS + 7 * DAY_MS;

beforeEach(() => {
  useFakeClock(Date.UTC(2027, 0, 10, 12));
});

/** A seller whose renewal has failed, who has canceled for the end of the period, and whose grace period is over. */
const withPlanOverHere = async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + HOUR_MS);
  const open = month(RENEWAL_MS, { billing_reason: 'subscription_cycle', status: 'open' });
  await atStripe.bill(open);
  const { body } = await ada.callApi('POST', '/api/cancel-subscription');
  expect(body.subscription.ends_at).toBe(isoTime(OVER_MS));
  vi.setSystemTime(OVER_MS + DAY_MS);
  return { ada, atStripe };
};

const cancelNow = (ada: StripePayer) => ada.callApi('POST', '/api/cancel-subscription', { at: 'now' });

test('a plan that is over here but goes on at Stripe can be canceled at once', async () => {
  const { ada, atStripe } = await withPlanOverHere();
  const { status, body } = await cancelNow(ada);
  // It doesn't last longer than it did.
  expect([status, body.subscription?.ends_at]).toEqual([200, isoTime(OVER_MS)]);
  expect(await atStripe.put()).toMatchObject({ status: 'canceled', latest_invoice: { status: 'void' } });
  expect(outcomeOf(await cancelNow(ada))).toBe('409 no_active_subscription');
});

test('deleting an account whose plan is over here ends the subscription at Stripe', async () => {
  const { ada, atStripe } = await withPlanOverHere();
  const proof = { current_password: ada.password, confirm: ada.email };
  expect((await ada.callApi('DELETE', '/api/account', proof)).status).toBe(202);
  expect(await atStripe.put()).toMatchObject({ status: 'canceled', latest_invoice: { status: 'void' } });
});
