import { createScheduledController } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { finishErasures } from '../../src/erasure/finish.ts';
import { runScheduled } from '../../src/system/scheduled.ts';
import { type Customer, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { countRowsOfBatches } from '../support/d1-queries.ts';
import { accountsD1, ctxOf, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { insertLicenses } from '../support/licenses.ts';

const MAX_QUERIES = 1_000;

/** Runs the hourly work, of which D1 answers no more queries than it does in production. */
const runHourlyWork = async () => {
  const prototype = Object.getPrototypeOf(accountsD1) as D1Database;
  const prepare = Reflect.get(prototype, 'prepare');
  let queries = 0;
  const spy = vi.spyOn(prototype, 'prepare').mockImplementation(function (this: D1Database, text: string) {
    if (++queries > MAX_QUERIES)
      throw new Error('D1_ERROR: Too many API requests by single Worker invocation.');
    return prepare.call(this, text);
  });
  await runScheduled(createScheduledController(), env);
  spy.mockRestore();
};

/** As if calls had been cut off. */
const beginErasures = ({ accountId }: Customer, count: number) =>
  accountsD1
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
       INSERT INTO erasures (account_id, kind, subject, until_ms, created_at)
       SELECT ?1, 'customer', n || '@example.com', 0, 1 FROM numbers`,
    )
    .bind(accountId, count)
    .run();

const pendingOf = ({ accountId }: Customer) =>
  accountsD1
    .prepare('SELECT count(*) AS pending FROM erasures WHERE account_id = ?')
    .bind(accountId)
    .first<number>('pending');

const erase = (ada: Customer, name: string) =>
  ada.asSession('POST', '/api/erase-customer', { customer_email: `${name}@example.com` });

test('erasures that an account has begun are finished in some runs, and hold up no other account', async () => {
  const mallory = await signUp();
  await beginErasures(mallory, 300);
  const ada = await signUp();
  await ada.createLicense();
  await firstD1.prepare('DELETE FROM sessions WHERE account_id = ?').bind(ada.accountId).run();
  await accountsD1.prepare('UPDATE accounts SET erase_at = 1 WHERE id = ?').bind(ada.accountId).run();
  const isThere = () =>
    accountsD1.prepare('SELECT 1 FROM licenses WHERE account_id = ?').bind(ada.accountId).first();
  await runHourlyWork();
  expect(await isThere()).toBeNull();
  expect(await pendingOf(mallory)).toBeLessThan(300);
  await runHourlyWork();
  expect(await pendingOf(mallory)).toBe(0);
});

/** Changes of as many licenses that no longer exist, of which some were the customer's. */
const insertHistory = ({ accountId }: Customer, count: number, email: string) =>
  accountsD1
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
       INSERT INTO license_changes (account_id, license_id, seq, at, before, after)
       SELECT ?1, printf('lic_%020d', n), 1, 1,
         json_object('customer_email', iif(n % 10000 = 0, ?3, 'someone@example.com')), '{}' FROM numbers`,
    )
    .bind(accountId, count, email)
    .run();

test('an erasure that runs out of queries goes on where it has stopped', async () => {
  const ada = await signUp();
  const ann = 'ann@limits.example';
  await insertHistory(ada, 70_000, ann);
  await accountsD1
    .prepare("INSERT INTO erasures (account_id, kind, subject, created_at) VALUES (?, 'customer', ?, 1)")
    .bind(ada.accountId, ann)
    .run();
  const finishSome = async () => {
    let left = 30;
    const spend = (queries: number) => {
      left -= queries;
      if (left < 0) throw new Error('no queries left');
    };
    await finishErasures(ctxOf(ada.accountId), null, spend).catch(() => {});
  };
  let calls = 0;
  while ((await pendingOf(ada)) !== 0 && calls < 10) {
    await finishSome();
    calls++;
  }
  expect([await pendingOf(ada), calls]).toEqual([0, 4]);
});

test('an account with many erasures doesn’t keep others from theirs', async () => {
  const mallory = await signUp();
  await beginErasures(mallory, 2_000);
  const sellers = await Promise.all(Array.from({ length: 3 }, signUp));
  for (const seller of sellers) await beginErasures(seller, 1);
  await runHourlyWork();
  expect(await Promise.all(sellers.map(pendingOf))).toEqual([0, 0, 0]);
});

test('a call erases whom it names, and leaves other erasures to the hourly work', async () => {
  const ada = await signUp();
  await beginErasures(ada, 3);
  await ada.createLicense({ customer_email: 'grace@example.com' });
  expect((await erase(ada, 'grace')).body).toMatchObject({ licenses: 1 });
  expect(await pendingOf(ada)).toBe(3);
  const { id } = await ada.createLicense();
  await ada.asSession('DELETE', `/api/v1/licenses/${id}`);
  expect(await pendingOf(ada)).toBe(3);
});

test('an account erases ten customers a minute', async () => {
  useFakeClock();
  const ada = await signUp();
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => erase(ada, `customer-${i}`)));
  expect(tallyOf(answers)).toEqual({ '200 ok': 10, '429 rate_limit_exceeded': 2 });
  const refused = answers.find(({ status }) => status === 429);
  expect(Number(refused?.headers.get('Retry-After'))).toBeGreaterThan(50);
  expect(outcomeOf(await erase(await signUp(), 'customer'))).toBe('200 ok');
});

test('erasing a customer of few licenses doesn’t read all licenses of the account for each of them', async () => {
  const ada = await signUp();
  for (let i = 0; i < 5; i++) await ada.createLicense({ customer_email: 'grace@example.com' });
  await insertLicenses(ada, { count: 2_000, product: 'Orrery' });
  const rows = await countRowsOfBatches(async () => {
    expect((await erase(ada, 'grace')).body.licenses).toBe(5);
  });
  expect(rows).toBeLessThan(1_000);
});
