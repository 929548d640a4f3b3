import { beforeEach, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { openLicense } from '../support/activations.ts';
import { type Customer, type Json, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { countRowsRead } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { tamper } from '../support/gate.ts';
import { insertLicenses, list } from '../support/licenses.ts';
import { watchRows } from '../support/rows.ts';

// What a list by machines costs, however many an account has: the gate answers verifies meanwhile, and is billed by rows.

beforeEach(() => useFakeClock('2027-03-01T12:00:00.000Z'));

/** An account with licenses of two seats each. `ids` are in order of creation. */
const open = async (count: number) => {
  const ada = await signUp();
  await ada.asKey('PUT', '/api/v1/products/orrery', { terms: { max_activations: 2 } });
  await insertLicenses(ada, { count, product: 'orrery' });
  const { results } = await accountsD1
    .prepare('SELECT id FROM licenses WHERE account_id = ? ORDER BY id')
    .bind(ada.accountId)
    .all<{ id: string }>();
  const ids = results.map(({ id }) => id);

  /** Adds machines to each of these licenses, whose seats end in an hour. */
  const addMachines = (licenseIds: (string | undefined)[], name: string, each = 1) =>
    tamper(
      ada.accountId,
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
       INSERT INTO activations
         (license_id, fingerprint, id, name, activated_at_ms, last_seen_at_ms, counted_at_ms, live_until_ms)
       SELECT value, printf('%s-%06d', ?2, i), printf('act_%s%s%d', value, ?2, i), ?2, ?3, ?3, ?3, ?3 + ?4
       FROM json_each(?5), n`,
      each,
      name,
      Date.now(),
      HOUR_MS,
      JSON.stringify(licenseIds),
    );
  return { ada, ids, addMachines };
};

const pagesOf = async (ada: Customer, query: Record<string, string>) => {
  const pages: string[][] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Json = await list(ada, { ...query, limit: '100', ...(cursor && { cursor }) });
    pages.push(page.data.map(({ id }: Json) => id));
    cursor = page.next_cursor;
  }
  return pages;
};

test('pages of full licenses lead through all that have machines, in either order', async () => {
  const { ada, ids, addMachines } = await open(5_000);
  await addMachines(ids, 'first');
  const full = [1, 2_500, 2_501, 4_990].map((i) => ids[i]);
  await addMachines(full, 'second');
  const rows = await watchRows(ada.accountId);
  const inD1 = await countRowsRead(() => list(ada, { seats: 'full' }));
  expect(inD1).toBeLessThan(4_000);
  expect((await rows.take()).read).toBeLessThan(6_000);
  const pages = await pagesOf(ada, { seats: 'full' });
  expect(pages.flat()).toEqual(full.toReversed());
  expect(pages.length).toBeLessThan(7);
  expect((await pagesOf(ada, { seats: 'full', sort: 'created_at' })).flat()).toEqual(full);
  // Full pages cost nothing of the pace of searches.
  expect((await pagesOf(ada, { seats: 'used' })).flat()).toEqual(ids.toReversed());
});

test('a page of taken seats reads 10,000 machines at most, also where seats have ended', async () => {
  const { ada, ids, addMachines } = await open(60);
  await addMachines(ids.slice(1), 'ended', 1_000);
  await addMachines(ids.slice(0, 1), 'ended', 15_000);
  vi.advanceTimersByTime(HOUR_MS);
  await addMachines(ids.slice(0, 2), 'live');
  const rows = await watchRows(ada.accountId);
  const first = await list(ada, { seats: 'used' });
  expect([first.data, first.next_cursor]).toEqual([[], ids[49]]);
  // The seats of each page's last license are counted, too.
  expect((await rows.take()).read).toBeLessThan(20_000);
  const pages = await pagesOf(ada, { seats: 'used' });
  expect(pages.flat()).toEqual([ids[1], ids[0]]);
});

test('a beginning that more than 1,000 machines’ names have is compared with whole names, page by page', async () => {
  const { ada, ids, addMachines } = await open(1_500);
  await addMachines(ids.slice(0, 1_000), 'MacBook');
  expect((await pagesOf(ada, { machine: 'mac' })).flat()).toHaveLength(1_000);
  await addMachines(ids.slice(1_000), 'MacBook Pro');
  const rows = await watchRows(ada.accountId);
  expect(await pagesOf(ada, { machine: 'mac' })).toEqual([[]]);
  expect((await rows.take()).read).toBeLessThan(1_100);
  expect((await pagesOf(ada, { machine: 'macbook pro' })).flat()).toEqual(ids.slice(1_000).toReversed());
  expect((await pagesOf(ada, { machine: 'macbook' })).flat()).toEqual(ids.slice(0, 1_000).toReversed());
  expect((await pagesOf(ada, { machine: 'macbook', sort: 'created_at' })).flat()).toEqual(
    ids.slice(0, 1_000),
  );
});

test('a license with many machines of one name is listed once', async () => {
  const { ada, ids, addMachines } = await open(3);
  await addMachines(ids, 'Lab', 1_500);
  expect((await pagesOf(ada, { machine: 'lab' })).flat()).toEqual(ids.toReversed());
});

test('lists that look through many machines have the pace of searches', async () => {
  const { ada, ids, addMachines } = await open(1_000);
  await addMachines(ids, 'Mac');
  const get = (query: string) => ada.asSession('GET', `/api/v1/licenses?${query}`);
  const answers = await Promise.all(Array.from({ length: 70 }, () => get('seats=full')));
  const { '200 ok': answered, '429 rate_limit_exceeded': refused } = tallyOf(answers);
  expect([answered, refused]).toEqual([60, 10]);
  expect(outcomeOf(await get('machine=Mac&status=revoked'))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await get('machine=Mac'))).toBe('200 ok');
  vi.advanceTimersByTime(1_000);
  expect(outcomeOf(await get('seats=full'))).toBe('200 ok');
});

test('a renewal writes no index of machines, and a new name one', async () => {
  const { customer, on } = await openLicense({ max_activations: 5, lease_seconds: 3_600 });
  const rows = await watchRows(customer.accountId);
  await on('activate', 1, { name: 'Laptop' });
  await rows.take();
  vi.advanceTimersByTime(HOUR_MS / 2);
  await on('heartbeat', 1);
  expect((await rows.take()).written).toBe(2);
  vi.advanceTimersByTime(HOUR_MS / 2);
  await on('verify', 1, { name: 'New' });
  // The entry of the old name goes, and that of the new name comes.
  expect((await rows.take()).written).toBe(4);
});
