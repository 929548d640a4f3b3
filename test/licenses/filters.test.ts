import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { countRowsRead } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { insertLicenses, list, products } from '../support/licenses.ts';
import { importAs } from '../transfer/transfer.ts';

const PRODUCTS = ['Orrery', 'Sextant', undefined];
const EMAILS = ['ann@example.com', 'bob@example.com', 'joann@example.com'];
const DATES = [undefined, '2027-01-31', '2028-06-15', '9999-12-31', '2026-02-01'];
const STATUSES = [undefined, 'suspended', 'revoked', undefined, undefined];

const pick = <T>(values: T[], index: number): T => values[index % values.length] as T;

/** Licenses of every kind, imported in another order than that of their creation. */
const lines = Array.from({ length: 60 }, (_, i) =>
  JSON.stringify({
    license_key: `KEY-${String(i).padStart(8, '0')}`,
    product: pick(PRODUCTS, i),
    customer_email: pick(EMAILS, Math.floor(i / 2)),
    expires_at: pick(DATES, i * 3),
    status: pick(STATUSES, i * 7),
    created_at: new Date(Date.UTC(2024, (i * 17) % 24, 1 + (i % 5))).toISOString(),
    metadata: { order: i % 4, paid: i % 2 === 0, 'plan.name': pick(['Gold', 'Gold Plus'], i), n: `${i}` },
  }),
);

/** The ids of a list's pages, with seven licenses a page. */
const idsOf = async (ada: Customer, query: Record<string, string>) => {
  const ids: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Json = await list(ada, { ...query, limit: '7', ...(cursor && { cursor }) });
    ids.push(...page.data.map(({ id }: Json) => id));
    cursor = page.next_cursor;
  }
  return ids;
};

describe('a list of licenses', () => {
  let ada: Customer;
  let all: Json[];
  let nowMs = Date.now();

  // Each test has the whole pace of a session, however fast the tests before it were.
  beforeEach(() => useFakeClock((nowMs += 60_000)));

  beforeAll(async () => {
    ada = await signUp();
    await importAs(ada, lines.join('\n'));
    all = (await list(ada, { limit: '100' })).data;
  });

  const FILTERS: [query: Record<string, string>, holds: (license: Json) => boolean][] = [
    [{}, () => true],
    [{ customer_email: ' ANN@example.com' }, ({ customer_email }) => customer_email === 'ann@example.com'],
    [{ expires_at: 'never' }, ({ expires_at }) => expires_at === null],
    [
      { expires_at: 'never', product: 'Orrery' },
      ({ expires_at, product }) => expires_at === null && product === 'Orrery',
    ],
    [{ product: 'Orrery' }, ({ product }) => product === 'Orrery'],
    [{ 'metadata.order': '3' }, ({ metadata }) => metadata.order === 3],
    [{ 'metadata[order]': '3' }, ({ metadata }) => metadata.order === 3],
    [{ 'metadata.paid': 'true' }, ({ metadata }) => metadata.paid],
    [{ 'metadata.plan.name': 'Gold' }, ({ metadata }) => metadata['plan.name'] === 'Gold'],
    [{ 'metadata.n': '5', 'metadata.order': '1' }, ({ metadata }) => metadata.n === '5'],
    [{ 'metadata.n': '5', 'metadata.order': '2' }, () => false],
    [{ expires_before: '2028-06-15' }, ({ expires_at }) => expires_at !== null && expires_at < '2028-06-15'],
    [{ expires_after: '2027-01-31' }, ({ expires_at }) => expires_at !== null && expires_at > '2027-01-31'],
    [{ created_before: '2025-01-01' }, ({ created_at }) => created_at < '2025'],
    [{ created_after: '2025-02-28T23:00:00.000Z' }, ({ created_at }) => created_at > '2025-02-28T23'],
    [{ status: 'expired' }, ({ status }) => status === 'expired'],
    [
      { status: 'suspended', product: 'Sextant' },
      (it) => it.status === 'suspended' && it.product === 'Sextant',
    ],
    [
      { q: 'sext', expires_after: '2027-12-01' },
      (it) => it.product === 'Sextant' && it.expires_at > '2027-12-01',
    ],
    [
      { q: 'ann@example.com', product: 'Orrery' },
      (it) => it.customer_email === 'ann@example.com' && it.product === 'Orrery',
    ],
  ];

  const SORTS: Record<string, (license: Json) => string> = {
    created_at: ({ created_at, id }) => created_at + id,
    expires_at: ({ expires_at, id }) => (expires_at ?? '~') + id,
    customer_email: ({ customer_email, license_key }) => customer_email + license_key,
  };

  test.for(FILTERS)('filtered by %j has the licenses that fit, in each order', async ([query, holds]) => {
    const expected = all.filter(holds);
    for (const [field, keyOf] of Object.entries(SORTS)) {
      const ascending = expected.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(({ id }) => id);
      expect([field, await idsOf(ada, { ...query, sort: field })]).toEqual([field, ascending]);
      const descending = await idsOf(ada, { ...query, sort: `-${field}` });
      expect([`-${field}`, descending]).toEqual([`-${field}`, ascending.toReversed()]);
    }
    expect(new Set(await idsOf(ada, query))).toEqual(new Set(expected.map(({ id }) => id)));
  });

  test('begins with the license that was created last, whenever it was imported', () => {
    expect(all).toHaveLength(lines.length);
    const timesMs = all.map(({ created_at }) => Date.parse(created_at));
    expect(timesMs).toEqual(timesMs.toSorted((a, b) => b - a));
  });

  test.for([
    'metadata=order',
    'metadata.order=1&metadata=2',
    'metadata.=1',
    'status.x=active',
    'product.name=Orrery',
    '__proto__.x=1',
    '__proto__=1',
    'toString=1',
    'product=Orrery&product=Sextant',
    'expires_before=tomorrow',
    'created_after=2027-02-30',
    'sort=product',
    'sort=expires_at&cursor=lic_00000000000000000000',
    'cursor=WzEsMl0',
    Array.from({ length: 6 }, (_, i) => `metadata.${i}=1`).join('&'),
  ])('refuses ?%s', async (query) => {
    const { status, body } = await ada.asSession('GET', `/api/v1/licenses?${query}`);
    expect([status, body.error?.code]).toEqual([400, 'invalid_request']);
  });
});

test('a filter reads a bounded number of rows, and its cursor leads to every license', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 1, product: 'Sextant', expiresAt: '2030-01-01' });
  await insertLicenses(ada, { count: 5_000, product: 'Orrery', expiresAt: '2031-01-01' });
  await insertLicenses(ada, { count: 2_000, product: 'Orrery' });
  await ada.createLicense({ product: 'Globe', metadata: { order: 1 } });
  await insertLicenses(ada, { count: 3_000, product: 'Orrery', expiresAt: '2032-01-01' });
  const cost = async (query: Record<string, string>, expected: string[]) => {
    const rows = await countRowsRead(async () => {
      expect([query, products(await list(ada, query))]).toEqual([query, expected]);
    });
    expect([query, rows < 9_000]).toEqual([query, true]);
  };
  for (const sort of ['created_at', '-created_at', 'expires_at', '-expires_at', 'customer_email']) {
    await cost({ product: 'Sextant', sort }, ['Sextant']);
    await cost({ customer_email: ada.email, sort }, ['Globe']);
    await cost({ q: 'sext', sort }, ['Sextant']);
    await cost({ expires_before: '2030-06-01', sort }, sort === '-created_at' ? [] : ['Sextant']);
  }
  for (const sort of ['created_at', '-expires_at', 'expires_at', '-customer_email']) {
    const found: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null; pages++) {
      expect(pages).toBeLessThan(40);
      const query = { 'metadata.order': '1', sort, ...(cursor && { cursor }) };
      const page: Json = await list(ada, query);
      found.push(...products(page));
      cursor = page.next_cursor;
    }
    expect([sort, found]).toEqual([sort, ['Globe']]);
  }
});
