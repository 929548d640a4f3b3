import { beforeEach, expect, test, vi } from 'vitest';
import { signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { list, pages, products } from '../support/licenses.ts';

beforeEach(() => {
  useFakeClock('2027-03-01T12:00:00.000Z');
});

test('licenses are listed newest first, a page at a time, whole or by their state', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  await bob.createLicense({ product: 'of another account' });
  const make = async (product: string, fields: object = {}, verb?: string) => {
    const license = await ada.createLicense({ product, ...fields });
    if (verb) await ada.asSession('POST', `/api/v1/licenses/${license.id}/${verb}`);
  };
  expect(await list(ada)).toEqual({ data: [], next_cursor: null });
  await make('perpetual');
  await make('to the 5th', { expires_at: '2027-03-05' });
  await make('to the 3rd', { expires_at: '2027-03-03' });
  await make('paused', {}, 'suspend');
  await make('gone', { expires_at: '2027-03-03' }, 'revoke');
  await make('also to the 5th', { expires_at: '2027-03-05' });
  await make('paused and past', { expires_at: '2027-03-02' }, 'suspend');
  await make('to the 9th', { expires_at: '2027-03-09' });

  vi.setSystemTime('2027-03-05T23:59:59.999Z');
  expect(await pages(ada)).toEqual([
    ['to the 9th', 'paused and past'],
    ['also to the 5th', 'gone'],
    ['paused', 'to the 3rd'],
    ['to the 5th', 'perpetual'],
  ]);
  expect(await pages(ada, { status: 'active' })).toEqual([
    ['to the 9th', 'also to the 5th'],
    ['to the 5th', 'perpetual'],
  ]);
  expect(await pages(ada, { status: 'expired' })).toEqual([['to the 3rd']]);
  expect(await pages(ada, { status: 'suspended' })).toEqual([['paused and past', 'paused']]);
  expect(await pages(ada, { status: 'revoked' })).toEqual([['gone']]);

  vi.setSystemTime('2027-03-06T00:00:00.000Z');
  expect(await pages(ada, { status: 'active' })).toEqual([['to the 9th', 'perpetual']]);
  // The latest to expire first.
  expect(await pages(ada, { status: 'expired' })).toEqual([
    ['also to the 5th', 'to the 5th'],
    ['to the 3rd'],
  ]);
  for (const { status, expires_at: expiresAt } of (await list(ada, { status: 'expired' })).data) {
    expect([status, expiresAt < '2027-03-06']).toEqual(['expired', true]);
  }

  // What is made between two pages shifts neither.
  const first = await list(ada, { limit: '3' });
  await make('late');
  const second = await list(ada, { limit: '3', cursor: first.next_cursor });
  expect(products(second)).toEqual(['gone', 'paused', 'to the 3rd']);
  expect((await list(ada, { limit: '100' })).next_cursor).toBeNull();
  // Another account's cursor shows nothing of that account.
  const theirs = (await list(bob)).data[0].id;
  const foreign = [
    ...(await list(ada, { cursor: theirs })).data,
    ...(await list(ada, { cursor: theirs, q: 'p' })).data,
  ];
  expect(foreign.map(({ product }) => product)).not.toContain('of another account');
});
