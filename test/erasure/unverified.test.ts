import { env } from 'cloudflare:workers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { outcomeOf, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { withoutTables } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { mailsTo, sendMailsBy } from '../support/mails.ts';
import { asVisitor, login, verifyAddress } from '../support/sign-in.ts';

beforeEach(() => {
  useFakeClock();
});

const SUBJECT = 'Your account will be deleted unless you verify your email address';
const toldTo = (email: string) => mailsTo(email).filter(({ subject }) => subject === SUBJECT);
const passDays = async (days: number) => {
  vi.advanceTimersByTime(days * DAY_MS);
  await runHourly();
};
/** What the databases still have of the account. */
const leftOf = async (accountId: string) => {
  const account = accountsD1.prepare('SELECT erase_at, is_unverified FROM accounts WHERE id = ?');
  const user = firstD1.prepare('SELECT email FROM users WHERE account_id = ?');
  return {
    account: await account.bind(accountId).first<Record<string, number | null>>(),
    user: await user.bind(accountId).first('email'),
  };
};

test('an account that stays unverified works for seven days, is told two days before, and is erased', async () => {
  const ada = await signUp();
  const works = async () => outcomeOf(await ada.asKey('GET', '/api/v1/licenses'));
  await passDays(4.9);
  expect(toldTo(ada.email)).toEqual([]);
  await passDays(0.2);
  await runHourly();
  expect(toldTo(ada.email)).toHaveLength(1);
  expect(toldTo(ada.email)[0]?.text).toContain('deleted after 2027-03-17');
  await passDays(1.9);
  expect([await works(), outcomeOf(await login(ada.email, ada.password))]).toEqual(['200 ok', '200 ok']);
  await passDays(0.2);
  expect((await leftOf(ada.accountId)).user).toBe(null);
  expect(await works()).toBe('403 api_key_invalid');
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('401 invalid_credentials');
  const again = await asVisitor('/api/register', { email: ada.email, password: ada.password });
  expect(outcomeOf(again)).toBe('201 ok');
  expect(toldTo(ada.email)).toHaveLength(1);
});

test('verifying the address before then keeps the account', async () => {
  const ada = await signUp();
  await passDays(5.1);
  await verifyAddress(ada.accountId);
  // The proof was cut off before the account's own database knew of it.
  await passDays(3);
  expect(await leftOf(ada.accountId)).toEqual({
    account: { erase_at: null, is_unverified: 0 },
    user: ada.email,
  });
  expect(outcomeOf(await ada.asKey('GET', '/api/v1/licenses'))).toBe('200 ok');
});

test('nobody is erased who could not be told', async () => {
  const ada = await signUp();
  await passDays(5.1);
  const bob = await signUp();
  const restore = sendMailsBy(() => Promise.reject(new Error('The mail service is down.')));
  await withoutTables(['held_notices'], () => passDays(5.1));
  restore();
  await runHourly();
  expect(toldTo(bob.email)).toHaveLength(1);
  expect((await leftOf(bob.accountId)).user).toBe(bob.email);
  expect((await leftOf(ada.accountId)).user).toBe(null);
});

test('an erasure that is cut off between the databases goes on', async () => {
  const ada = await signUp();
  await passDays(5.1);
  await withoutTables(['feed'], () => passDays(2.1));
  expect(await leftOf(ada.accountId)).toMatchObject({ account: { erase_at: null }, user: null });
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
  expect((await leftOf(ada.accountId)).account?.['erase_at']).not.toBe(null);
});

test('a service that sends no mail, and a local run, erase nobody', async () => {
  const ada = await signUp();
  const preview = vi.spyOn(settingsOf(env), 'mailPreview', 'get').mockReturnValue('/mails');
  onTestFinished(() => preview.mockRestore());
  await passDays(5.1);
  preview.mockReturnValue(null);
  const from = vi.spyOn(settingsOf(env), 'mailFrom', 'get').mockReturnValue(null);
  await passDays(3);
  from.mockRestore();
  expect(toldTo(ada.email)).toEqual([]);
  expect((await leftOf(ada.accountId)).user).toBe(ada.email);
});
