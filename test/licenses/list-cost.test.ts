import { beforeEach, expect, test } from 'vitest';
import { signUp } from '../support/client.ts';
import { countRowsRead } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { allPages, insertLicenses, list, products } from '../support/licenses.ts';

beforeEach(() => {
  useFakeClock('2027-03-01T12:00:00.000Z');
});

test('a list or search of a few active licenses doesn’t read all the expired ones', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 2, product: 'Sextant' });
  await insertLicenses(ada, { count: 12_000, product: 'Old Sextant', expiresAt: '2027-02-28' });
  await insertLicenses(ada, { count: 1, product: 'Sextant', expiresAt: '2027-03-01' });
  const listed = await countRowsRead(async () => {
    expect(products(await list(ada, { status: 'active' }))).toEqual(['Sextant', 'Sextant', 'Sextant']);
  });
  expect(listed).toBeLessThan(200);
  const searched = await countRowsRead(async () => {
    expect(products(await list(ada, { status: 'active', q: 'sextant' }))).toHaveLength(3);
  });
  expect(searched).toBeLessThan(6_000);
});

test('a search whose parts are common returns short pages, and its cursor leads to every match', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 1, product: 'aaab, the oldest' });
  await insertLicenses(ada, { count: 1_500, product: 'aaa aab' });
  await insertLicenses(ada, { count: 1, product: 'aaab, the newest' });
  await insertLicenses(ada, { count: 700, product: 'aaa aab' });
  const first = await list(ada, { q: 'aaab' });
  expect(products(first)).toEqual(['aaab, the newest']);
  const second = await list(ada, { q: 'aaab', cursor: first.next_cursor });
  expect([products(second), typeof second.next_cursor]).toEqual([[], 'string']);
  const third = await list(ada, { q: 'aaab', cursor: second.next_cursor });
  expect([products(third), third.next_cursor]).toEqual([['aaab, the oldest'], null]);
  const found = await allPages(ada, { q: 'aaab', status: 'active' });
  expect(found.flat()).toEqual(['aaab, the newest', 'aaab, the oldest']);
});
