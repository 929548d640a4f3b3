import { beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { PLANS } from '../../src/shared/rules/plans.ts';
import { captureLogs } from '../http/security.ts';
import { outcomeOf, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setPlan, setUsage, withoutTables } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { lastMailTo, mailsTo, sendMailsBy } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { waitUntil } from '../support/wait-until.ts';

// Emails that nobody has asked for, and how their owner switches them off.

beforeEach(() => {
  useFakeClock();
});

const LIMIT = PLANS.free.licenseLimit;
const BYTES = PLANS.free.storageBytes;

const open = async () => {
  const ada = await signUp();
  await verifyAddress(ada.accountId);
  // Notes the proof in the account, too.
  await ada.asSession('GET', '/api/account');
  const before = mailsTo(ada.email).length;
  /** The subjects of the emails since then. */
  const subjects = () =>
    mailsTo(ada.email)
      .slice(before)
      .map(({ subject }) => subject);
  return { ada, subjects };
};

const runHours = async (hours: number) => {
  for (let i = 0; i < hours; i++) {
    await runHourly();
    vi.advanceTimersByTime(HOUR_MS);
  }
};

const setTotals = (accountId: string, column: 'licenses' | 'bytes', total: number) =>
  accountsD1
    .prepare(`UPDATE license_totals SET ${column} = ? WHERE account_id = ?`)
    .bind(total, accountId)
    .run();

test('the owner hears at 90% of the licenses, once, until the account has shrunk or gets another plan', async () => {
  const { ada, subjects } = await open();
  await setTotals(ada.accountId, 'licenses', LIMIT * 0.9 - 1);
  await runHours(2);
  expect(subjects()).toEqual([]);

  await setTotals(ada.accountId, 'licenses', LIMIT * 0.9);
  await runHours(3);
  expect(subjects()).toEqual(['Your account is at 90% of its license limit']);

  await setTotals(ada.accountId, 'licenses', LIMIT * 0.85);
  await runHours(1);
  await setTotals(ada.accountId, 'licenses', LIMIT);
  await runHours(1);
  expect(subjects()).toHaveLength(1);

  await setTotals(ada.accountId, 'licenses', LIMIT * 0.8);
  await runHours(1);
  await setTotals(ada.accountId, 'licenses', LIMIT);
  await runHours(2);
  expect(subjects().slice(1)).toEqual(['Your account is at 100% of its license limit']);

  await setPlan(ada.accountId, 'pro');
  await runHours(1);
  await setTotals(ada.accountId, 'licenses', PLANS.pro.licenseLimit * 0.95);
  await runHours(2);
  expect(subjects().slice(2)).toEqual(['Your account is at 95% of its license limit']);
});

test('the owner hears at 90% of the storage what will be refused, and how to switch the email off', async () => {
  const { ada, subjects } = await open();
  await setTotals(ada.accountId, 'bytes', BYTES * 0.925);
  await runHours(2);
  expect(subjects()).toEqual(['Your account is at 92% of its storage limit']);
  const { text } = await lastMailTo(ada.email, mailsTo(ada.email).length);
  expect(text).toContain('nothing that takes more space can be stored');
  expect(text).toContain('You can turn off emails like this one in the dashboard’s settings.');
});

test('the owner hears of a limit an hour later if the email was lost', async () => {
  const { ada, subjects } = await open();
  await setTotals(ada.accountId, 'licenses', LIMIT * 0.9);
  captureLogs();
  const stop = sendMailsBy(() => Promise.reject(new Error('The mail service is down.')));
  await withoutTables(['held_notices'], () => runHours(1));
  stop();
  await setTotals(ada.accountId, 'bytes', BYTES * 0.9);
  await runHours(2);
  expect(subjects()).toEqual([
    'Your account is at 90% of its license limit',
    'Your account is at 90% of its storage limit',
  ]);
});

test('an owner gets no emails about what they have switched off, and still those about security', async () => {
  const { ada, subjects } = await open();
  const muted = { muted_emails: ['limits', 'usage'] };
  expect((await ada.asSession('PATCH', '/api/account', muted)).body).toMatchObject(muted);
  await setTotals(ada.accountId, 'licenses', LIMIT);
  await setUsage(ada.accountId, PLANS.free.apiLimit * 0.8);
  expect((await ada.verify('NO-SUCH-KEY')).status).toBe(200);
  await runHours(2);
  expect(subjects()).toEqual([]);

  const passwords = { current_password: ada.password, password: 'another horse battery' };
  expect(outcomeOf(await ada.asSession('POST', '/api/change-password', passwords))).toBe(
    '401 reauthentication_required',
  );
  await ada.prove();
  expect(outcomeOf(await ada.asSession('POST', '/api/change-password', passwords))).toBe('200 ok');
  await waitUntil(() => subjects().length === 1);
  expect(subjects()).toEqual(['Your password has changed']);

  expect((await ada.asSession('PATCH', '/api/account', { muted_emails: [] })).status).toBe(200);
  vi.advanceTimersByTime(DAY_MS);
  await setTotals(ada.accountId, 'licenses', 0);
  await runHours(1);
  await setTotals(ada.accountId, 'licenses', LIMIT);
  await runHours(1);
  expect(subjects()).toHaveLength(2);
});

test('an unknown topic is refused', async () => {
  const { ada } = await open();
  const answer = await ada.asSession('PATCH', '/api/account', { muted_emails: ['security'] });
  expect(outcomeOf(answer)).toBe('400 invalid_request');
});
