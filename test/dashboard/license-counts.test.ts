import * as fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS, isoDate } from '../../src/shared/rules/dates.ts';
import { STORED_LICENSE_STATUSES } from '../../src/shared/rules/licenses.ts';
import { type Customer, signUp } from '../support/client.ts';
import { countRowsRead } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

beforeEach(() => {
  useFakeClock(NOON);
});

const dateAt = (days: number) => isoDate(NOON + days * DAY_MS);

const readCounts = async (ada: Customer) => {
  const { status, body } = await ada.asKey('GET', '/api/dashboard');
  expect([status, body.error]).toEqual([200, undefined]);
  return body.licenses;
};

const run = (query: string, ...bindings: unknown[]) =>
  accountsD1
    .prepare(query)
    .bind(...bindings)
    .run();

/** Stores an active license for each of these days. Day 0 is today, and null means perpetual. */
const insertLicenses = ({ accountId }: Customer, days: (number | null)[], prefix = 'x') =>
  run(
    `INSERT INTO licenses
       (account_id, id, license_key, status, customer_email, expires_at, metadata, created_at, updated_at)
     SELECT ?1, 'lic_' || ?3 || key, ?3 || key, 'active', 'grace@example.com', value, '{}', 0, 0 FROM json_each(?2)`,
    accountId,
    JSON.stringify(days.map((day) => (day === null ? null : dateAt(day)))),
    prefix,
  );

test('a dashboard call reads few rows, however many last days, products, and API keys an account has', async () => {
  const ada = await signUp();
  const days = Array.from({ length: 3_000 }, (_, i) => i - 1_500);
  await insertLicenses(ada, days);
  await run(
    `INSERT INTO products (account_id, code, terms, created_at, updated_at)
     SELECT ?1, 'product-' || value, '{}', 0, 0 FROM json_each(?2)`,
    ada.accountId,
    JSON.stringify(days.slice(0, 1_000)),
  );
  const counts = { total: 3_000, active: 1_500, expired: 1_500, suspended: 0, revoked: 0 };
  expect(await readCounts(ada)).toEqual(counts);
  const rowsRead = () =>
    countRowsRead(async () => {
      expect(await readCounts(ada)).toMatchObject({ total: 3_000 });
    });
  expect(await rowsRead()).toBeLessThan(100);
  vi.setSystemTime(NOON + 29 * DAY_MS);
  expect(await rowsRead()).toBeLessThan(150);
  expect(await readCounts(ada)).toEqual({ ...counts, active: 1_471, expired: 1_529 });
});

const day = fc.option(fc.integer({ min: -3, max: 45 }), { freq: 8 });
const status = fc.constantFrom(...STORED_LICENSE_STATUSES);
const CHANGE = fc.oneof(
  fc.record({ insert: fc.array(day, { minLength: 1, maxLength: 5 }) }),
  fc.record({ pick: fc.nat(), setDay: day }),
  fc.record({ pick: fc.nat(), setStatus: status }),
  fc.record({ pick: fc.nat(), remove: fc.constant(true) }),
  fc.record({ wait: fc.constantFrom(1, 2, 40) }),
  fc.record({ look: fc.constant(true) }),
);

/** Counts the licenses themselves. */
const countRows = async ({ accountId }: Customer) => {
  const { results } = await accountsD1
    .prepare(
      `SELECT iif(status = 'active' AND ifnull(expires_at, '9') < ?2, 'expired', status) AS state, count(*) AS n
       FROM licenses WHERE account_id = ?1 GROUP BY state`,
    )
    .bind(accountId, isoDate(Date.now()))
    .all<{ state: string; n: number }>();
  const counts: Record<string, number> = { active: 0, expired: 0, suspended: 0, revoked: 0 };
  for (const { state, n } of results) counts[state] = n;
  return { total: results.reduce((sum, { n }) => sum + n, 0), ...counts };
};

test('a change of a license is counted on the day on which passed days were added up', async () => {
  const ada = await signUp();
  await insertLicenses(
    ada,
    Array.from({ length: 50 }, (_, i) => i - 40),
  );
  expect(await readCounts(ada)).toMatchObject({ active: 10, expired: 40 });
  const setStatus = (status: string, day: number) =>
    run(
      'UPDATE licenses SET status = ? WHERE account_id = ? AND expires_at = ?',
      status,
      ada.accountId,
      dateAt(day),
    );
  await setStatus('suspended', 0);
  expect(await readCounts(ada)).toMatchObject({ active: 9, expired: 40, suspended: 1 });
  await setStatus('suspended', -1);
  expect(await readCounts(ada)).toMatchObject({ active: 9, expired: 39, suspended: 2 });
  await setStatus('active', 0);
  await setStatus('active', -1);
  expect(await readCounts(ada)).toMatchObject({ active: 10, expired: 40, suspended: 0 });
});

const expectSame = async (ada: Customer) => expect(await readCounts(ada)).toEqual(await countRows(ada));

test('the license counts are those of the licenses after any changes, however much time passes between them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(CHANGE, { minLength: 10, maxLength: 30, size: 'max' }), async (changes) => {
      vi.setSystemTime(NOON);
      const ada = await signUp();
      // Enough days for several of them to be added up.
      const days = Array.from({ length: 100 }, (_, i) => i - 40);
      await insertLicenses(ada, days, `${ada.accountId}-`);
      const change = (assignment: string, pick: number, value: string | null) =>
        run(
          `UPDATE licenses SET ${assignment} = ?3 WHERE seq = (SELECT seq FROM licenses WHERE account_id = ?1
             ORDER BY seq DESC LIMIT 1 OFFSET ?2 % 100)`,
          ada.accountId,
          pick,
          value,
        );
      for (const [i, step] of changes.entries()) {
        if ('insert' in step) await insertLicenses(ada, step.insert, `${ada.accountId}-${i}-`);
        else if ('setDay' in step)
          await change('expires_at', step.pick, step.setDay === null ? null : dateAt(step.setDay));
        else if ('setStatus' in step) await change('status', step.pick, step.setStatus);
        else if ('remove' in step)
          await run(
            `DELETE FROM licenses WHERE seq = (SELECT seq FROM licenses WHERE account_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2 % 100)`,
            ada.accountId,
            step.pick,
          );
        else if ('wait' in step) vi.setSystemTime(Date.now() + step.wait * DAY_MS);
        else await expectSame(ada);
      }
      await expectSame(ada);
    }),
    { numRuns: 10, endOnFailure: true },
  );
});
