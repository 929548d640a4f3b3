import { beforeEach, expect, test, vi } from 'vitest';
import { tellOfEndingPlans } from '../../../src/billing/scheduled/ending.ts';
import { addMonths, DAY_MS, HOUR_MS, isoTime } from '../../../src/shared/rules/dates.ts';
import { accountsD1, ctxOf } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { runHourly } from '../../support/hourly.ts';
import { mailsTo } from '../../support/mails.ts';
import { month, signUpWithStripe, stripeEnv, type StripePayer } from '../../support/stripe.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);
const END_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const endingsOf = async (ada: StripePayer) =>
  (await ada.events()).filter(({ event }) => event === 'plan.ending');

test('three days and one day before a canceled plan ends, its owner gets an event and a mail', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  await ada.callApi('POST', '/api/cancel-subscription');
  vi.setSystemTime(END_MS - 3 * DAY_MS - 1);
  await runHourly(stripeEnv());
  expect(await endingsOf(ada)).toEqual([]);
  for (const beforeMs of [3 * DAY_MS, 3 * DAY_MS - HOUR_MS, DAY_MS, HOUR_MS]) {
    vi.setSystemTime(END_MS - beforeMs);
    const tell = () => tellOfEndingPlans({ env: stripeEnv(), db: ctxOf(ada.accountId).db });
    await Promise.all([tell(), tell()]);
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

test('a plan that is canceled later than three days before its end is told with the days that are left', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  vi.setSystemTime(END_MS - 30 * HOUR_MS);
  await ada.callApi('POST', '/api/cancel-subscription');
  await runHourly(stripeEnv());
  expect(await endingsOf(ada)).toMatchObject([{ days_left: 2 }]);
});

test('the end of the grace period after a failed payment is told, until the invoice is paid', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(END_MS);
  const open = month(END_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  await atStripe.bill(open);
  vi.setSystemTime(END_MS + 5 * DAY_MS);
  await runHourly(stripeEnv());
  await atStripe.bill({ ...open, status: 'paid' });
  vi.setSystemTime(END_MS + 6 * DAY_MS + HOUR_MS);
  await runHourly(stripeEnv());
  expect(await endingsOf(ada)).toMatchObject([{ days_left: 2, reason: 'payment_failed' }]);
});

test('a plan that the operator has granted does not end', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  await ada.callApi('POST', '/api/cancel-subscription');
  await accountsD1.prepare("UPDATE accounts SET granted_plan = 'pro' WHERE id = ?").bind(ada.accountId).run();
  vi.setSystemTime(END_MS - DAY_MS);
  await runHourly(stripeEnv());
  expect(await endingsOf(ada)).toEqual([]);
});

test('plans that grants replace keep no owner waiting, however many there are', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  await ada.callApi('POST', '/api/cancel-subscription');
  const endsAt = END_MS - HOUR_MS;
  const granted = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO accounts (id, email, plan, plan_until, granted_plan, granted_until, created_at)
    SELECT 'acct_granted_' || i, i || '@granted.example', 'pro', ?1, 'scale', ?1 + i, 1 FROM n`;
  const canceled = `INSERT INTO subscriptions
    (id, account_id, provider, provider_ref, plan, status, period_start, period_end, created_at, updated_at)
    SELECT 'sub_' || id, id, 'stripe', id, 'pro', 'cancelled', 1, plan_until, 1, 1 FROM accounts WHERE granted_plan = 'scale'`;
  await accountsD1.prepare(granted).bind(endsAt).run();
  await accountsD1.prepare(canceled).run();
  vi.setSystemTime(END_MS - DAY_MS);
  await runHourly(stripeEnv());
  expect(await endingsOf(ada)).toMatchObject([{ days_left: 1 }]);
});

test('a grant that is too small, or that ends first, lets a plan end', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe('scale');
  await ada.callApi('POST', '/api/cancel-subscription');
  const grant = (plan: string, until: number | null) =>
    accountsD1
      .prepare('UPDATE accounts SET granted_plan = ?, granted_until = ? WHERE id = ?')
      .bind(plan, until, ada.accountId)
      .run();
  await grant('pro', null);
  vi.setSystemTime(END_MS - 3 * DAY_MS);
  await runHourly(stripeEnv());
  await grant('scale', END_MS);
  vi.setSystemTime(END_MS - DAY_MS);
  await runHourly(stripeEnv());
  expect(await endingsOf(ada)).toMatchObject([{ days_left: 3 }, { days_left: 1 }]);
});
