import { beforeEach, expect, test, vi } from 'vitest';
import { outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { countRowsRead, recordStatements } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { allPages, insertLicenses, list, products, skipNumbers } from '../support/licenses.ts';

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
  expect(searched).toBeLessThan(4_500);
});

test('a search whose parts are common returns short pages, and its cursor leads to every match', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 1, product: 'aaab, the oldest' });
  await insertLicenses(ada, { count: 2_500, product: 'aaa aab' });
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

/** So many licenses lie between two that have the same rare piece of text. */
const FAR = 40_000;

test('a search of rare pieces finds what has them all with two queries, however many licenses have one', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 400, product: 'abc' });
  await insertLicenses(ada, { count: 400, product: 'bcd' });
  await skipNumbers(FAR);
  await insertLicenses(ada, { count: 1, product: 'abcd' });
  const { result, statements } = await recordStatements(() => list(ada, { q: 'abcd' }));
  expect([products(result), result.next_cursor]).toEqual([['abcd'], null]);
  expect(statements.filter((text) => text.includes('candidates'))).toHaveLength(2);
  const answers = await Promise.all(Array.from({ length: 80 }, () => list(ada, { q: 'abcd' })));
  expect(answers.every(({ data }) => data.length === 1)).toBe(true);
});

test('a search finds a license that is older than all that its second piece has lately matched', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 1, product: 'abcd' });
  await skipNumbers(FAR);
  await insertLicenses(ada, { count: 1_100, product: 'bcd' });
  await insertLicenses(ada, { count: 20, product: 'abc' });
  expect(products(await list(ada, { q: 'abcd' }))).toEqual(['abcd']);
});

test('a search of pieces that were common once finds every match', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 1, product: 'abcd, the oldest' });
  await insertLicenses(ada, { count: 1_100, product: 'abc bcd' });
  await skipNumbers(FAR);
  await insertLicenses(ada, { count: 1, product: 'abcd, the newest' });
  const found = await allPages(ada, { q: 'abcd' });
  expect(found.flat()).toEqual(['abcd, the newest', 'abcd, the oldest']);
});

test('a list that finds enough compares few licenses, and the others compare as many as the account may', async () => {
  const ada = await signUp();
  await insertLicenses(ada, { count: 1_500, product: 'aaa aab' });
  expect(await countRowsRead(() => list(ada, { q: 'aaa' }))).toBeLessThan(400);
  expect(await countRowsRead(() => list(ada, { customer_email: 'nobody@example.com' }))).toBeLessThan(400);
  expect(await countRowsRead(() => list(ada, { q: 'aaab' }))).toBeLessThan(4_500);
  vi.advanceTimersByTime(60_000);
  const search = (query: string) => ada.asSession('GET', `/api/v1/licenses?${query}`);
  const queries = ['q=aaab', 'q=aaab&status=active', 'metadata.order=1', 'q=aaab&sort=created_at'];
  const answers = await Promise.all(Array.from({ length: 80 }, (_, i) => search(queries[i % 4] ?? '')));
  // Each compares 1,100 licenses, if it may.
  const { '200 ok': answered = 0, '429 rate_limit_exceeded': refused = 0 } = tallyOf(answers);
  expect(answered).toBeGreaterThan(50);
  expect([answered < 60, answered + refused]).toEqual([true, 80]);
  const refusal = answers.find(({ status }) => status === 429);
  expect([refusal?.headers.get('retry-after'), refusal?.body.error.message]).toEqual([
    '1',
    'Too many searches that find little. Narrow them down, or wait.',
  ]);
  expect(outcomeOf(await search('q=aaa'))).toBe('200 ok');
  vi.advanceTimersByTime(1_000);
  expect(outcomeOf(await search('q=aaab'))).toBe('200 ok');
});
