import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Customer, signUp } from '../support/client.ts';
import { atTime, useFakeClock } from '../support/fake-clock.ts';
import { list, products, skipNumbers } from '../support/licenses.ts';

const NOON = '2027-03-01T12:00:00.000Z';

/** A search compares two pieces of its text if they are rare among many licenses. */
beforeAll(() => skipNumbers(40_000));

beforeEach(() => {
  useFakeClock(NOON);
});

describe('a search', () => {
  const CHARLES = {
    license_key: 'ORRERY-0042-XYZ',
    customer_email: 'charles.babbage@engines.example',
    customer_name: 'Charles Babbage',
    product: 'Difference Engine',
  };
  let ada: Customer;
  let bob: Customer;

  const setUp = async () => {
    [ada, bob] = await Promise.all([signUp(), signUp()]);
    await ada.createLicense(CHARLES);
    // With its own key, because a generated license key may begin with a C or a D.
    await ada.createLicense({
      license_key: 'ASTRO-000001',
      customer_email: 'ada@example.com',
      customer_name: 'Ada',
      product: 'Astrolabe',
    });
    await bob.createLicense({ ...CHARLES, product: 'Bob’s Difference Engine' });
  };
  beforeAll(() => atTime(NOON, setUp));

  const find = async (q: string) => products(await list(ada, { q }));

  test.for([
    'ORRERY',
    'orrery-0042',
    '0042-x',
    'XYZ',
    'charles.babbage@engines.example',
    'BABBAGE@',
    '.example',
    'nes.exa',
    'Charles Babbage',
    'les bab',
    'difference engine',
    'FERENCE',
    '  engine  ',
    'orrery 0042',
    'Babbage ORRERY difference',
  ])('for “%s” finds the license that contains it, in any case', async (q) => {
    const found = await find(q);
    expect(found.filter((product) => product !== 'Astrolabe')).toEqual(['Difference Engine']);
  });

  test.for([
    ['O', 'Difference Engine'],
    ['or', 'Difference Engine'],
    ['c', 'Difference Engine'],
    ['Ch', 'Difference Engine'],
    ['d', 'Difference Engine'],
    ['DI', 'Difference Engine'],
    ['as', 'Astrolabe'],
    ['A', 'Astrolabe'],
    ['ad', 'Astrolabe'],
  ] as const)('for “%s” finds the license with a field that begins with it', async ([q, product]) => {
    expect(await find(q)).toEqual([product]);
  });

  test.for(['rr', 'ba', 'yz', 'ff', 'Charles Astro', 'orrery 0043', 'eenDiff', 'zzz'])(
    'for “%s” finds nothing',
    async (q) => {
      expect(await find(q)).toEqual([]);
    },
  );

  test.for(['', '  '])('for “%s” lists every license of the account', async (q) => {
    expect(await find(q)).toEqual(['Astrolabe', 'Difference Engine']);
  });

  test('finds the new text of a changed license and no longer the old', async () => {
    const { id } = await bob.createLicense({
      ...CHARLES,
      license_key: 'CHANGED-1',
      customer_name: 'Konrad Zuse',
      product: 'Sundial',
    });
    const findBobs = async (q: string) => products(await list(bob, { q }));
    await bob.asSession('PATCH', `/api/v1/licenses/${id}`, {
      product: 'Analytical Machine',
      customer_name: null,
    });
    expect(await findBobs('sundial')).toEqual([]);
    expect(await findBobs('Konrad Zuse')).toEqual([]);
    expect(await findBobs('difference')).toEqual(['Bob’s Difference Engine']);
    expect(await findBobs('machine')).toEqual(['Analytical Machine']);
    await bob.asSession('POST', `/api/v1/licenses/${id}/revoke`);
    expect(await findBobs('changed-1')).toEqual(['Analytical Machine']);
  });

  test('finds only the account’s own licenses', async () => {
    expect(products(await list(bob, { q: 'difference engine' }))).toEqual(['Bob’s Difference Engine']);
  });
});

describe('a search for special characters', () => {
  const PRODUCT = `Möbius "Pro" * -- C++/C# 50%_off (new) a:b ^top 'tick' 😀👍🏽 日本語`;
  let ada: Customer;

  const setUp = async () => {
    ada = await signUp();
    await ada.createLicense({ product: PRODUCT });
    // With its own key, because a generated license key may begin with an M.
    await ada.createLicense({ product: 'plain', license_key: 'KEY-00000001' });
  };
  beforeAll(() => atTime(NOON, setUp));

  const find = async (q: string) => products(await list(ada, { q }));

  test.for([
    '"Pro"',
    '" *',
    '* --',
    '-- C++',
    'C++/C#',
    '50%_off',
    '%_o',
    '(new)',
    'a:b',
    '^top',
    "'tick'",
    'MÖBIUS',
    'möbius "pro"',
    '😀👍🏽',
    "k' 😀",
    '日本語',
    PRODUCT.toUpperCase(),
    'm',
    'Mö',
  ])('finds the product that contains “%s”', async (q) => {
    expect(await find(q)).toEqual([PRODUCT]);
  });

  test.for([
    '"',
    '""',
    '"""',
    '*',
    '**',
    'pla*',
    '-',
    '-plain',
    '^plain',
    '😀',
    '日',
    '本語',
    '%',
    '%%%',
    '_____',
    '(',
    ')))',
    ';--',
    '\\',
    "'",
    "' OR 1=1",
    'plain OR Pro',
    'NOT plain',
    'NEAR(a b)',
    'account:a',
    'words : plain',
    '{words}',
    'plain + pro',
  ])('takes “%s” literally and finds nothing', async (q) => {
    expect(await find(q)).toEqual([]);
  });

  test.for([
    { name: 'a control character', q: '\u0001' },
    { name: 'a zero-width space', q: '\u200b' },
    { name: 'a replacement character', q: '\ufffd' },
    { name: '200 accented letters', q: 'é'.repeat(200) },
  ])('for $name finds nothing', async ({ q }) => {
    expect(await find(q)).toEqual([]);
  });

  test.for([
    { name: 'a NUL character', q: '%00' },
    { name: 'text that ends in a NUL character', q: 'plain%00' },
    { name: 'a NUL character before a quote', q: '%00%22' },
    { name: '201 characters', q: 'x'.repeat(201) },
  ])('rejects $name', async ({ q }) => {
    const { status, body } = await ada.asSession('GET', `/api/v1/licenses?q=${q}`);
    expect([status, body.error.details[0].path]).toEqual([400, 'q']);
  });
});
