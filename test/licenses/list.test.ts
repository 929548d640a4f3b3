import { beforeEach, expect, test, vi } from 'vitest';
import { signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { allPages, list, products } from '../support/licenses.ts';

beforeEach(() => {
  useFakeClock('2027-03-01T12:00:00.000Z');
});

test('licenses are listed newest first, in stable pages, with or without a status filter', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  await bob.createLicense({ product: 'of another account' });
  const create = async (product: string, fields: object = {}, action?: string) => {
    const license = await ada.createLicense({ product, ...fields });
    if (action) await ada.asSession('POST', `/api/v1/licenses/${license.id}/${action}`);
  };
  expect(await list(ada)).toEqual({ data: [], next_cursor: null });
  await create('perpetual');
  await create('until the 5th', { expires_at: '2027-03-05' });
  await create('until the 3rd', { expires_at: '2027-03-03' });
  await create('suspended', {}, 'suspend');
  await create('revoked', { expires_at: '2027-03-03' }, 'revoke');
  await create('also until the 5th', { expires_at: '2027-03-05' });
  await create('suspended, expired', { expires_at: '2027-03-02' }, 'suspend');
  await create('until the 9th', { expires_at: '2027-03-09' });

  vi.setSystemTime('2027-03-05T23:59:59.999Z');
  expect(await allPages(ada)).toEqual([
    ['until the 9th', 'suspended, expired'],
    ['also until the 5th', 'revoked'],
    ['suspended', 'until the 3rd'],
    ['until the 5th', 'perpetual'],
  ]);
  expect(await allPages(ada, { status: 'active' })).toEqual([
    ['until the 9th', 'also until the 5th'],
    ['until the 5th', 'perpetual'],
  ]);
  expect(await allPages(ada, { status: 'expired' })).toEqual([['until the 3rd']]);
  expect(await allPages(ada, { status: 'suspended' })).toEqual([['suspended, expired', 'suspended']]);
  expect(await allPages(ada, { status: 'revoked' })).toEqual([['revoked']]);

  vi.setSystemTime('2027-03-06T00:00:00.000Z');
  expect(await allPages(ada, { status: 'active' })).toEqual([['until the 9th', 'perpetual']]);
  // Expired licenses are sorted by expiry, the latest first.
  expect(await allPages(ada, { status: 'expired' })).toEqual([
    ['also until the 5th', 'until the 5th'],
    ['until the 3rd'],
  ]);
  for (const { status, expires_at: expiresAt } of (await list(ada, { status: 'expired' })).data) {
    expect([status, expiresAt < '2027-03-06']).toEqual(['expired', true]);
  }

  // A license created between two requests doesn't shift the pages.
  const first = await list(ada, { limit: '3' });
  await create('created later');
  const second = await list(ada, { limit: '3', cursor: first.next_cursor });
  expect(products(second)).toEqual(['revoked', 'suspended', 'until the 3rd']);
  expect((await list(ada, { limit: '100' })).next_cursor).toBeNull();
  // Another account's cursor reveals none of that account's licenses.
  const cursor = (await list(bob)).data[0].id;
  const searched = await list(ada, { cursor: '1000000', q: 'p' });
  const listed = [...(await list(ada, { cursor })).data, ...searched.data];
  expect(listed.map(({ product }) => product)).not.toContain('of another account');
});
