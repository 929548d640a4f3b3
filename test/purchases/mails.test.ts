import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid, type Shop } from '../stores/shop.ts';
import { session } from '../stores/stripe-bodies.ts';
import { openStripe } from '../stores/stripe-shop.ts';
import { type Customer, type Json, outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setPlan } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { keepMails, lastMailTo, mailsTo, sendMailsBy } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { asVisitor, verifyAddress } from '../support/sign-in.ts';

const mailOf = async (shop: Shop, q: string) => {
  const [{ id }] = (await shop.purchases(`?q=${q}`)) as [{ id: string }];
  return (await shop.ada.asSession('GET', `/api/purchases/${id}`)).body.mails;
};

const tokenOf = ({ text }: { text: string }) => /#token=(\w+)/.exec(text)?.[1];

/** A seller who may write to buyers. */
const openVerified = async () => {
  const shop = await openShop();
  await verifyAddress(shop.ada.accountId);
  await shop.offer('pro', { grant: 'perpetual' });
  return { shop, work: () => workOnStores(env, shop.ada.accountId) };
};

test('a buyer gets the key once, from the seller, whoever works on it', async () => {
  keepMails();
  const { shop, work } = await openVerified();
  await shop.notify(paid('1', { name: 'Grace Hopper', quantity: 2 }));
  await Promise.all([work(), work(), work()]);
  const keys = (await shop.licenses()).map(({ license_key }) => license_key);
  const mails = mailsTo('grace@example.com');
  expect(mails).toHaveLength(1);
  for (const key of keys) expect(mails[0]?.text).toContain(key);
  expect(await mailOf(shop, '1')).toMatchObject([{ status: 'sent', problem: null }]);
});

test('a key that D1 fails to note as sent is not sent again', async () => {
  keepMails();
  const { shop, work } = await openVerified();
  await shop.notify(paid('1'));
  const database = Object.getPrototypeOf(env.DB) as D1Database;
  const prepare = Reflect.get(database, 'prepare');
  let tries = 0;
  const broken = vi.spyOn(database, 'prepare').mockImplementation(function (this: D1Database, query: string) {
    if (/^update "purchase_mails".*"sent_at"/.test(query) && tries++ === 0)
      throw new Error('D1_ERROR: Network connection lost.');
    return prepare.call(this, query);
  });
  await work();
  broken.mockRestore();
  expect(tries).toBe(2);
  expect(await mailOf(shop, '1')).toMatchObject([{ status: 'sent', problem: null }]);
  expect(mailsTo('grace@example.com')).toHaveLength(1);
});

test('an account without a proved address writes to nobody, and what is due waits', async () => {
  keepMails();
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  await workOnStores(env, shop.ada.accountId);
  expect(mailsTo('grace@example.com')).toEqual([]);
  expect(await mailOf(shop, '1')).toMatchObject([{ status: 'waiting', problem: 'account_not_verified' }]);
});

const ROADS: Record<string, (ada: Customer) => Promise<unknown>> = {
  'the link of its email': async (ada) => {
    await ada.asSession('POST', '/api/resend-verification');
    const token = tokenOf(await lastMailTo(ada.email));
    expect(outcomeOf(await ada.asSession('POST', '/api/verify-email', { token }))).toBe('200 ok');
  },
  'a reset of the password': async (ada) => {
    await asVisitor('/api/forgot-password', { email: ada.email });
    const token = tokenOf(await lastMailTo(ada.email));
    const answer = await asVisitor('/api/reset-password', { token, password: 'a new horse battery' });
    expect(outcomeOf(answer)).toBe('200 ok');
  },
  'the operator’s change': async (ada) => {
    const body = { email: `new-${ada.email}` };
    const path = `/operator/accounts/${ada.accountId}/change-email`;
    expect(outcomeOf(await asOperator('POST', path, body))).toBe('200 ok');
    vi.advanceTimersByTime(48 * HOUR_MS - 60_000);
    // The email isn't due within the next hour.
    await workOnStores(env, ada.accountId);
    vi.advanceTimersByTime(60_000);
    await runHourly();
  },
};

test.for(Object.entries(ROADS))(
  'what has waited for a proved address is due once it is proved by %s',
  async ([, prove]) => {
    useFakeClock();
    onTestFinished(withOperatorToken());
    keepMails();
    const shop = await openShop();
    await shop.offer('pro', { grant: 'perpetual' });
    await shop.notify(paid('1'));
    const problem = () =>
      accountsD1
        .prepare('SELECT problem FROM purchase_mails WHERE account_id = ?')
        .bind(shop.ada.accountId)
        .first('problem');
    await workOnStores(env, shop.ada.accountId);
    expect(await problem()).toBe('account_not_verified');
    await prove(shop.ada);
    await expect.poll(problem).toBeNull();
    await workOnStores(env, shop.ada.accountId);
    expect(mailsTo('grace@example.com')).toHaveLength(1);
  },
);

test('a key for which the store has told no address can be sent once its license has one', async () => {
  keepMails();
  const shop = await openStripe();
  await verifyAddress(shop.ada.accountId);
  await shop.offer('plink_1', { grant: 'perpetual' });
  await shop.send(
    'checkout.session.completed',
    session(1, { payment_link: 'plink_1', customer_details: null }),
  );
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  const resend = () => shop.ada.asSession('POST', `/api/purchases/${id}/resend-mail`);
  expect(outcomeOf(await resend())).toBe('409 invalid_transition');
  const [license] = (await shop.licenses()) as [Json];
  await shop.ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, {
    customer_email: 'grace@example.com',
  });
  expect(outcomeOf(await resend())).toBe('202 ok');
  // Stripe can't be asked what its notification doesn't say, which is found first.
  for (let steps = 0; steps < 2; steps++) await workOnStores(env, shop.ada.accountId);
  expect(mailsTo('grace@example.com')[0]?.text).toContain(license.license_key);
  const problems = (await shop.ada.asSession('GET', `/api/purchases/${id}`)).body.mails;
  expect(problems.map(({ problem }: Json) => problem)).toEqual(['same_as_earlier', null]);
});

test('a key that is sent again goes to the address that its license has by now', async () => {
  keepMails();
  const { shop, work } = await openVerified();
  await shop.notify(paid('1', { email: 'graec@example.com', quantity: 2 }));
  await work();
  const [mistyped, right] = ['graec@example.com', 'grace@corrected.example'];
  const [first, second] = await shop.licenses();
  const move = (license: Json, customer_email: string) =>
    shop.ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, { customer_email });
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  const resend = async () => {
    expect(outcomeOf(await shop.ada.asSession('POST', `/api/purchases/${id}/resend-mail`))).toBe('202 ok');
    await work();
  };
  // One of two was given to somebody else, so the buyer gets the other one.
  await move(first, 'alan@example.com');
  await resend();
  const [, again] = mailsTo(mistyped);
  expect(again?.text).toContain(second.license_key);
  expect(again?.text).not.toContain(first.license_key);
  await move(second, right);
  await move(first, right);
  await resend();
  expect(mailsTo(mistyped)).toHaveLength(2);
  expect(mailsTo('alan@example.com')).toEqual([]);
  for (const { license_key } of [first, second]) expect(mailsTo(right)[0]?.text).toContain(license_key);
});

test('what is over the bound of a day is sent as soon as the day is over, and says so until then', async () => {
  useFakeClock();
  keepMails();
  const { shop, work } = await openVerified();
  await setPlan(shop.ada.accountId, 'free');
  for (let i = 1; i <= 52; i++) await shop.notify(paid(`o${i}`));
  for (let i = 0; i < 12; i++) await work();
  const counts = async () => {
    const mails = await Promise.all([1, 52].map((i) => mailOf(shop, `o${i}`)));
    return [mails.flat().map(({ problem }) => problem), mailsTo('grace@example.com').length];
  };
  expect(await counts()).toEqual([[null, 'limit_of_the_day'], 50]);
  // The day begins with its first email, wherever midnight is.
  vi.setSystemTime('2027-03-11T11:59:00Z');
  await work();
  expect(await counts()).toEqual([[null, 'limit_of_the_day'], 50]);
  vi.setSystemTime('2027-03-11T12:01:00Z');
  await work();
  expect(await counts()).toEqual([[null, null], 52]);
});

test('an email that can’t be sent in eight tries is given up, until the seller sends it again', async () => {
  keepMails();
  const { shop, work } = await openVerified();
  await shop.notify(paid('1'));
  const letTimePass = accountsD1
    .prepare('UPDATE purchase_mails SET due_at = 1 WHERE account_id = ? AND due_at IS NOT NULL')
    .bind(shop.ada.accountId);
  const restore = sendMailsBy(() => Promise.reject(new Error('The mail service is down.')));
  await work();
  expect(await mailOf(shop, '1')).toMatchObject([{ status: 'waiting', problem: 'not_delivered' }]);
  for (let tries = 1; tries < 8; tries++) {
    await letTimePass.run();
    await work();
  }
  restore();
  const givenUp = { status: 'not_sent', due_at: null, problem: 'not_delivered' };
  expect(await mailOf(shop, '1')).toMatchObject([givenUp]);
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  expect(outcomeOf(await shop.ada.asSession('POST', `/api/purchases/${id}/resend-mail`))).toBe('202 ok');
  await work();
  expect(await mailOf(shop, '1')).toMatchObject([givenUp, { status: 'sent', problem: null }]);
});

test('a key that was not mailed because of a dispute is mailed once the dispute is won', async () => {
  keepMails();
  const { shop, work } = await openVerified();
  await shop.notify(paid('1'));
  await shop.notify({ type: 'disputed', order: '1' });
  await work();
  expect(mailsTo('grace@example.com')).toEqual([]);
  await shop.notify({ type: 'dispute_won', order: '1' });
  await work();
  expect(mailsTo('grace@example.com')).toHaveLength(1);
});

test('a key that could not be mailed, nor sent again, is mailed once when the dispute is won', async () => {
  keepMails();
  const { shop, work } = await openVerified();
  await shop.notify(paid('1'));
  await shop.notify({ type: 'disputed', order: '1' });
  await work();
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  for (let i = 0; i < 2; i++) {
    expect(outcomeOf(await shop.ada.asSession('POST', `/api/purchases/${id}/resend-mail`))).toBe('202 ok');
    await work();
  }
  expect(mailsTo('grace@example.com')).toEqual([]);
  await shop.notify({ type: 'dispute_won', order: '1' });
  for (let i = 0; i < 3; i++) await work();
  expect(mailsTo('grace@example.com')).toHaveLength(1);
  const repeated = { status: 'not_sent', problem: 'same_as_earlier' };
  expect(await mailOf(shop, '1')).toMatchObject([{ status: 'sent', problem: null }, repeated, repeated]);
  // Whatever the store says later, they stay unsent.
  await shop.notify({ type: 'disputed', order: '1' });
  await shop.notify({ type: 'dispute_won', order: '1' });
  await work();
  expect(mailsTo('grace@example.com')).toHaveLength(1);
});
