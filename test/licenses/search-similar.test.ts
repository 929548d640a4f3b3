import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Customer, signUp } from '../support/client.ts';
import { atTime, useFakeClock } from '../support/fake-clock.ts';
import { allPages, list, products, skipNumbers } from '../support/licenses.ts';

const NOON = '2027-03-01T12:00:00.000Z';

/** A search compares two pieces of its text if they are rare among many licenses. */
beforeAll(() => skipNumbers(40_000));

beforeEach(() => {
  useFakeClock(NOON);
});

describe('a search among similar licenses', () => {
  let ada: Customer;

  const setUp = async () => {
    const bob = await signUp();
    ada = await signUp();
    const create = (customer: Customer, product: string, emailName: string) =>
      customer.createLicense({
        product,
        customer_email: `${emailName}@example.com`,
        customer_name: 'Ada Lovelace',
      });
    for (const index of [1, 2, 3, 4, 5, 6]) await create(ada, `Astrolabe ${index}`, `ada.lovelace.${index}`);
    await create(ada, 'Quadrant "50%_off" * ^AND NEAR(a b) \'x\'', 'zoe.quartermain');
    await create(ada, 'Quadrant 50%-off', 'zoe.quarterman');
    await create(ada, 'Möbius Straße Édition', 'ada.lovelace.7');
    await create(bob, 'Astrolabe of another account', 'zoe.quartermain');
  };
  beforeAll(() => atTime(NOON, setUp));

  const find = async (q: string) => products(await list(ada, { q })).map((product) => product.slice(0, 11));

  test.for([
    ['zoe.quartermain@example.com', ['Quadrant "5']],
    ['RTERMAIN@EXAMPLE.COM', ['Quadrant "5']],
    ['quartermain@exa', ['Quadrant "5']],
    ['e.quartermain', ['Quadrant "5']],
    ['ADA.lovelace.3@example.com', ['Astrolabe 3']],
    ['lovelace.3@example.com', ['Astrolabe 3']],
    ['zoe.quarterma', ['Quadrant 50', 'Quadrant "5']],
    ['quadrant "50%_off" *', ['Quadrant "5']],
    ['"50%_OFF" * ^and near(A b)', ['Quadrant "5']],
    ["^AND NEAR(a b) 'x'", ['Quadrant "5']],
    ['möbius straße', ['Möbius Stra']],
    ['MÖBIUS STRA', ['Möbius Stra']],
    ['us straße édition', ['Möbius Stra']],
  ] as const)('for “%s” finds exactly the licenses that contain it', async ([q, found]) => {
    expect(await find(q)).toEqual(found);
  });

  test('finds text that every license contains', async () => {
    expect(await find('@example.com')).toHaveLength(9);
    expect(await allPages(ada, { q: 'ada lovelace' })).toHaveLength(5);
  });

  test.for([
    'zoe.lovelace@example.com',
    'quadrant _50%off',
    'quadrant%off',
    'example.com.example',
    '"quadrant" OR "astrolabe"',
    'astrolabe*',
    'Astrolabe NOT zoe',
    'other account',
  ])('for “%s” finds nothing, because its parts are not adjacent', async (q) => {
    expect(await find(q)).toEqual([]);
  });
});
