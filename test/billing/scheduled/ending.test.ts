import { createScheduledController } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS, HOUR_MS, isoTime } from '../../../src/shared/rules/dates.ts';
import { runScheduled } from '../../../src/system/scheduled.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { mailsTo } from '../../support/mails.ts';
import { month, signUpWithStripe, stripeEnv, type StripePayer } from '../../support/stripe.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);
const END_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const run = () => runScheduled(createScheduledController(), stripeEnv());
const endingsOf = async (ada: StripePayer) =>
  (await ada.events()).filter(({ event }) => event === 'plan.ending');

test('three days and one day before a canceled plan ends, its owner gets an event and a mail', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  await ada.callApi('POST', '/api/cancel-subscription');
  vi.setSystemTime(END_MS - 3 * DAY_MS - 1);
  await run();
  expect(await endingsOf(ada)).toEqual([]);
  for (const beforeMs of [3 * DAY_MS, 3 * DAY_MS - HOUR_MS, DAY_MS, HOUR_MS]) {
    vi.setSystemTime(END_MS - beforeMs);
    await Promise.all([run(), run()]);
  }
  expect(await endingsOf(ada)).toMatchObject(
    [3, 1].map((days_left) => ({
      plan: 'pro',
      ends_at: isoTime(END_MS),
      days_left,
      reason: 'cancelled',
      customer_email: ada.email,
    })),
  );
  const mails = () => mailsTo(ada.email).filter(({ subject }) => subject.includes('about to end'));
  await expect.poll(() => mails().length).toBe(2);
  expect(mails()[0]?.text).toContain('2027-02-10 12:00 UTC');
});

test('the end of the grace period after a failed payment is told, until the invoice is paid', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(END_MS);
  const open = month(END_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  await atStripe.bill(open);
  vi.setSystemTime(END_MS + 5 * DAY_MS);
  await run();
  await atStripe.bill({ ...open, status: 'paid' });
  vi.setSystemTime(END_MS + 6 * DAY_MS + HOUR_MS);
  await run();
  expect(await endingsOf(ada)).toMatchObject([{ days_left: 3, reason: 'payment_failed' }]);
});

test('a plan that the operator has granted does not end', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  await ada.callApi('POST', '/api/cancel-subscription');
  await accountsD1.prepare("UPDATE accounts SET granted_plan = 'pro' WHERE id = ?").bind(ada.accountId).run();
  vi.setSystemTime(END_MS - DAY_MS);
  await run();
  expect(await endingsOf(ada)).toEqual([]);
});
