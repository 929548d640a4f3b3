import { beforeEach, expect, test, vi } from 'vitest';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { allPages, list, products } from '../support/licenses.ts';

beforeEach(() => {
  useFakeClock('2027-03-01T12:00:00.000Z');
});

test('a search combines with a status filter and pages', async () => {
  const ada = await signUp();
  for (const product of ['Orrery 1', 'Globe', 'Orrery 2', 'Orrery 3', 'Orrery 4', 'Orrery 5']) {
    const license = await ada.createLicense({
      product,
      expires_at: product.endsWith('2') ? '2027-03-02' : null,
    });
    if (product.endsWith('3')) await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`);
  }
  vi.setSystemTime('2027-03-03T00:00:00.000Z');
  expect(await allPages(ada, { q: 'orrery' })).toEqual([
    ['Orrery 5', 'Orrery 4'],
    ['Orrery 3', 'Orrery 2'],
    ['Orrery 1'],
  ]);
  expect(await allPages(ada, { q: 'or', status: 'active' })).toEqual([
    ['Orrery 5', 'Orrery 4'],
    ['Orrery 1'],
  ]);
  expect(await allPages(ada, { q: 'orrery', status: 'expired' })).toEqual([['Orrery 2']]);
  expect(await allPages(ada, { q: 'orrery', status: 'suspended' })).toEqual([['Orrery 3']]);
  expect(await allPages(ada, { q: 'orrery', status: 'revoked' })).toEqual([[]]);
});

test('a search for a whole license key finds only its license, and part of a key finds every match', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const { license_key: key, id } = await ada.createLicense({ product: 'first' });
  await ada.createLicense({ product: 'second' });
  await ada.createLicense({ product: `instead of ${key}` });
  const find = async (customer: Customer, q: string, status?: string) =>
    products(await list(customer, status ? { q, status } : { q }));
  for (const q of [key, key.toLowerCase(), key.replaceAll('-', ' '), ` ${key.replaceAll('0', 'O')} `])
    expect([q, await find(ada, q)]).toEqual([q, ['first']]);
  expect(products(await list(ada, { q: key, cursor: '1' }))).toEqual([]);
  for (const q of [key.slice(-11), key.slice(3)])
    expect([q, await find(ada, q)]).toEqual([q, ['instead of ' + key, 'first']]);
  expect(await find(ada, `of ${key}`)).toEqual([`instead of ${key}`]);
  expect(await find(bob, key)).toEqual([]);
  await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  expect(await find(ada, key, 'suspended')).toEqual(['first']);
  expect(await find(ada, key, 'revoked')).toEqual([]);
});

test('a search filtered by status finds both rare and common text', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  let count = 0;
  const createSuspended = async (customer: Customer, product: string) => {
    // With its own key and address, because generated ones may begin with an X or a 3.
    const license_key = `KEY-0000000${++count}`;
    const { id } = await customer.createLicense({ product, license_key, customer_email: 'kay@example.com' });
    await customer.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  };
  await createSuspended(bob, 'Sextant of another account');
  for (const index of [1, 2, 3, 4, 5]) {
    await createSuspended(ada, `Sextant ${index}`);
    await ada.createLicense({ product: `Sextant ${index}, active` });
  }
  await createSuspended(ada, 'Einzelstück Übersee');
  const status = 'suspended';
  const sextants = [['Sextant 5', 'Sextant 4'], ['Sextant 3', 'Sextant 2'], ['Sextant 1']];
  for (const q of ['Sextant', 'SEXT', 'ext', 'se'])
    expect([q, await allPages(ada, { q, status })]).toEqual([q, sextants]);
  for (const q of ['sextant 3', 'tant 3', 't 3'])
    expect([q, await allPages(ada, { q, status })]).toEqual([q, [['Sextant 3']]]);
  for (const q of ['ÜBERSEE', 'stück übersee', 'einzel'])
    expect([q, await allPages(ada, { q, status })]).toEqual([q, [['Einzelstück Übersee']]]);
  for (const q of ['sex%ant', 'sextant_5', 'x', 'xt'])
    expect([q, await allPages(ada, { q, status })]).toEqual([q, [[]]]);
  expect(await allPages(ada, { q: 'sextant', status: 'revoked' })).toEqual([[]]);
});

test('a search for a whole email address finds only that customer, and part of it finds every match', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const create = (customer: Customer, product: string, customer_email: string) =>
    customer.createLicense({ product, customer_email });
  for (const product of ['1', '2', '3']) await create(ada, product, 'Ann@example.com');
  const { id } = await create(ada, '4', 'ann@EXAMPLE.com');
  await create(ada, 'of Joann', 'joann@example.com');
  await create(ada, 'for ann@example.com', 'joe@example.com');
  await create(bob, 'of another account', 'ann@example.com');
  const pagesOf = (q: string, status?: string) => allPages(ada, status ? { q, status } : { q });

  for (const q of ['ann@example.com', 'ANN@example.COM', ' ann@example.com '])
    expect([q, await pagesOf(q)]).toEqual([
      q,
      [
        ['4', '3'],
        ['2', '1'],
      ],
    ]);
  expect(await pagesOf('nn@example.com')).toEqual([
    ['for ann@example.com', 'of Joann'],
    ['4', '3'],
    ['2', '1'],
  ]);
  expect(await pagesOf('ann@example.co')).toHaveLength(3);
  await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  expect(await pagesOf('ann@example.com', 'suspended')).toEqual([['4']]);
  expect(await pagesOf('ann@example.com', 'active')).toEqual([['3', '2'], ['1']]);
  // Without an exact match, partial matches don't take its place.
  expect(await pagesOf('ann@example.com', 'revoked')).toEqual([[]]);
  expect(await pagesOf('nobody@example.com')).toEqual([[]]);
});
