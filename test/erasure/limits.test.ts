import { expect, test, vi } from 'vitest';
import { finishErasures } from '../../src/erasure/finish.ts';
import { AccountGate, WebhookOutbox } from '../../src/index.ts';
import { type Customer, type Json, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { countRowsOfBatches } from '../support/d1-queries.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { finishErasure, runErasureAlarm } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { kill } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { insertLicenses } from '../support/licenses.ts';
import { move } from '../support/moving.ts';
import { setHome } from '../support/regions.ts';

const MAX_QUERIES = 1_000;

/** Does `work` while D1 answers no more queries than it does to one run in production. */
const withinQueries = async <T>(work: () => Promise<T>): Promise<T> => {
  const prototype = Object.getPrototypeOf(accountsD1) as D1Database;
  const prepare = Reflect.get(prototype, 'prepare');
  let queries = 0;
  const spy = vi.spyOn(prototype, 'prepare').mockImplementation(function (this: D1Database, text: string) {
    if (++queries > MAX_QUERIES)
      throw new Error('D1_ERROR: Too many API requests by single Worker invocation.');
    return prepare.call(this, text);
  });
  try {
    return await work();
  } finally {
    spy.mockRestore();
  }
};

/** Wakes the gates, and runs the alarm of one. */
const runHourlyAndAlarm = async ({ accountId }: Customer) => {
  await withinQueries(runHourly);
  return withinQueries(() => runErasureAlarm(accountId));
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

test('erasures that an account has begun are finished in some runs of its alarm', async () => {
  useFakeClock();
  const mallory = await signUp();
  await beginErasures(mallory, 250);
  await runHourlyAndAlarm(mallory);
  expect(await pendingOf(mallory)).toBeLessThan(250);
  expect(await pendingOf(mallory)).toBeGreaterThan(0);
  const runs = await finishErasure(mallory.accountId);
  expect([await pendingOf(mallory), runs]).toEqual([0, expect.any(Number)]);
  expect(runs).toBeLessThan(25);
});

/** As many licenses, of which some name the customer. */
const insertMentions = async (ada: Customer, count: number, email: string) => {
  await insertLicenses(ada, { count, product: 'Orrery' });
  await accountsD1
    .prepare(
      "UPDATE licenses SET metadata = json_object('for', ?2) WHERE account_id = ?1 AND (seq % 10000 = 0)",
    )
    .bind(ada.accountId, email)
    .run();
};

test('an erasure that runs out of queries goes on where it has stopped', async () => {
  const ada = await signUp();
  const ann = 'ann@limits.example';
  await insertMentions(ada, 70_000, ann);
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
  expect([await pendingOf(ada), calls]).toEqual([0, 5]);
});

test('an account with many erasures doesn’t keep others from theirs', async () => {
  useFakeClock();
  const mallory = await signUp();
  await beginErasures(mallory, 2_000);
  const ada = await signUp();
  await beginErasures(ada, 1);
  await runHourlyAndAlarm(ada);
  expect(await pendingOf(ada)).toBe(0);
  expect(await pendingOf(mallory)).toBeGreaterThan(1_000);
});

test('a customer that can’t be erased doesn’t keep the account’s other ones from it', async () => {
  useFakeClock();
  const ada = await signUp();
  const [stuck, other] = await Promise.all(
    ['1@example.com', '2@example.com'].map((customer_email) => ada.createLicense({ customer_email })),
  );
  await beginErasures(ada, 2);
  await accountsD1
    .prepare(
      `CREATE TRIGGER stuck BEFORE UPDATE ON licenses WHEN old.id = '${stuck.id}' BEGIN SELECT RAISE(ABORT, 'stuck'); END`,
    )
    .run();
  await runHourlyAndAlarm(ada);
  await accountsD1.prepare('DROP TRIGGER stuck').run();
  const emailOf = async ({ id }: Json) =>
    (await ada.asSession('GET', `/api/v1/licenses/${id}`)).body.customer_email;
  expect([await emailOf(stuck), await emailOf(other)]).toEqual(['1@example.com', 'erased@customer.invalid']);
  await finishErasure(ada.accountId);
  expect(await emailOf(stuck)).toBe('erased@customer.invalid');
});

test('what a call could not finish, the gate goes on with at once', async () => {
  useFakeClock();
  const ada = await signUp();
  await ada.createLicense({ customer_email: 'grace@example.com' });
  const { id } = await ada.createLicense({ customer_email: 'ann@example.com' });
  const failing = vi.spyOn(WebhookOutbox.prototype, 'eraseEvents').mockImplementation(() => {
    throw new Error('overloaded');
  });
  expect((await erase(ada, 'grace')).status).toBe(500);
  expect((await ada.asSession('DELETE', `/api/v1/licenses/${id}`)).status).toBe(200);
  failing.mockRestore();
  expect(await pendingOf(ada)).toBe(2);
  const calledMs = Date.now();
  await finishErasure(ada.accountId);
  expect([await pendingOf(ada), Date.now() - calledMs < 60_000]).toEqual([0, true]);
  expect(await findLeftovers(ada.accountId, ['grace@example.com'])).toEqual([]);
});

test('the gate goes on with an erasure whose call has died, also after a move', async () => {
  useFakeClock();
  const ada = await signUp();
  await setHome(ada.accountId, 'enam');
  await ada.createLicense({ customer_email: 'grace@example.com' });
  const outboxes = WebhookOutbox.prototype as unknown as Record<'eraseEvents', () => Promise<never>>;
  const died = vi.spyOn(outboxes, 'eraseEvents').mockImplementation(async () => {
    await kill(ada.accountId);
    throw new Error('cut off');
  });
  // The call can't tell the gate to go on.
  const eraseDue = Reflect.get(AccountGate.prototype, 'eraseDue');
  const deaf = vi.spyOn(AccountGate.prototype, 'eraseDue').mockRejectedValue(new Error('cut off'));
  deaf.mockImplementationOnce(eraseDue);
  expect((await erase(ada, 'grace')).status).toBe(500);
  died.mockRestore();
  deaf.mockRestore();
  await move(ada.accountId, 'weur');
  expect(await pendingOf(ada)).toBe(1);
  await runErasureAlarm(ada.accountId, 1);
  await finishErasure(ada.accountId, 2);
  expect(await pendingOf(ada)).toBe(0);
});

test('the outbox looks for a bounded number of licenses and customers at once', async () => {
  const ada = await signUp();
  const licenses = Array.from({ length: 120 }, (_, i) => `lic_${i}`);
  await accountsD1
    .prepare(
      `INSERT INTO erasures (account_id, kind, subject, until_ms, created_at)
       SELECT ?, 'license', value, 0, 1 FROM json_each(?)`,
    )
    .bind(ada.accountId, JSON.stringify(licenses))
    .run();
  const erased = vi.spyOn(WebhookOutbox.prototype, 'eraseEvents');
  await finishErasures(ctxOf(ada.accountId), null, () => {});
  const asked = erased.mock.calls.map(([{ licenseIds, emails }]) => [...licenseIds, ...emails]);
  erased.mockRestore();
  expect(asked.flat().toSorted()).toEqual(licenses.toSorted());
  expect(Math.max(...asked.map(({ length }) => length))).toBeLessThanOrEqual(50);
  expect(await pendingOf(ada)).toBe(0);
});

test('a call erases whom it names, and leaves other erasures to the gate', async () => {
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
