import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS } from '../../../src/shared/rules/dates.ts';
import { signUp } from '../../support/client.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { runHourly } from '../../support/hourly.ts';
import { month, notify, signUpWithStripe, stripeEnv } from '../../support/stripe.ts';
import { begin, billingRowsOf, press } from '../sandbox.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);

beforeEach(() => {
  useFakeClock(START_MS);
});

const factCount = async () =>
  (await accountsD1.prepare('SELECT count(*) AS facts FROM applied_facts').first<number>('facts')) ?? 0;

test('replaced payments are deleted after 90 days, and the other payments stay', async () => {
  const ada = await signUp();
  await press((await begin(ada)).checkout_url, 'declined');
  await begin(ada, { plan: 'scale' });
  await press((await begin(ada)).checkout_url, 'paid');
  await begin(ada, { plan: 'scale' });
  const statuses = async () => (await billingRowsOf(ada.accountId)).payments.map(({ status }) => status);
  vi.setSystemTime(START_MS + 90 * DAY_MS);
  await runHourly(stripeEnv());
  expect(await statuses()).toEqual(['declined', 'replaced', 'paid', 'pending']);
  vi.setSystemTime(START_MS + 90 * DAY_MS + 1);
  await runHourly(stripeEnv());
  expect(await statuses()).toEqual(['declined', 'paid', 'pending']);
});

test('a fact that is repeated after its name was deleted changes nothing', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const renewalMs = addMonths(START_MS, 1);
  vi.setSystemTime(renewalMs);
  await atStripe.bill(month(renewalMs, { billing_reason: 'subscription_cycle' }));
  const before = await ada.billingRows();
  expect(before.payments).toHaveLength(2);

  vi.setSystemTime(renewalMs + 365 * DAY_MS);
  await runHourly(stripeEnv());
  expect(await factCount()).toBeGreaterThan(0);
  vi.setSystemTime(renewalMs + 366 * DAY_MS + 1);
  await runHourly(stripeEnv());
  expect(await factCount()).toBe(0);

  const { status } = await notify('customer.subscription.updated', {
    id: atStripe.id,
    object: 'subscription',
  });
  expect(status).toBe(200);
  expect(await ada.billingRows()).toEqual(before);
  expect(await ada.events()).toHaveLength(2);
});
