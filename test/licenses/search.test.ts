import { beforeEach, expect, test, vi } from 'vitest';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { list, pages, products } from '../support/licenses.ts';

beforeEach(() => {
  useFakeClock('2027-03-01T12:00:00.000Z');
});

test('a search finds parts of key, e-mail, name and product in any case, and one’s own only', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const fields = {
    license_key: 'ORRERY-0042-XYZ',
    customer_email: 'charles.babbage@engines.example',
    customer_name: 'Charles Babbage',
    product: 'Difference Engine',
  };
  await ada.createLicense(fields);
  // A generated key may begin with a C or a D.
  await ada.createLicense({
    license_key: 'ASTRO-000001',
    customer_email: 'ada@example.com',
    customer_name: 'Ada',
    product: 'Astrolabe',
  });
  await bob.createLicense({ ...fields, product: 'Bob’s Difference Engine' });
  const finds = async (q: string) => products(await list(ada, { q }));
  const parts = {
    key: ['ORRERY', 'orrery-0042', '0042-x', 'XYZ'],
    email: ['charles.babbage@engines.example', 'BABBAGE@', '.example', 'nes.exa'],
    others: ['Charles Babbage', 'les bab', 'difference engine', 'FERENCE', '  engine  '],
  };
  for (const q of Object.values(parts).flat()) {
    const found = await finds(q);
    expect([q, found.filter((product) => product !== 'Astrolabe')]).toEqual([q, ['Difference Engine']]);
  }
  // One or two characters find what begins with them.
  for (const q of ['O', 'or', 'c', 'Ch', 'd', 'DI'])
    expect([q, await finds(q)]).toEqual([q, ['Difference Engine']]);
  for (const q of ['as', 'A', 'ad']) expect([q, await finds(q)]).toEqual([q, ['Astrolabe']]);
  for (const q of ['rr', 'ba', 'yz', 'ff']) expect([q, await finds(q)]).toEqual([q, []]);
  for (const q of ['Charles Astro', 'orrery 0042', 'eenDiff', 'zzz'])
    expect([q, await finds(q)]).toEqual([q, []]);
  // An empty search is none.
  for (const q of ['', '  ']) expect(await finds(q)).toEqual(['Astrolabe', 'Difference Engine']);

  // It follows what is changed.
  const [{ id }] = (await list(ada, { q: 'Engine' })).data;
  await ada.asSession('PATCH', `/api/v1/licenses/${id}`, {
    product: 'Analytical Machine',
    customer_name: null,
  });
  expect(await finds('difference')).toEqual([]);
  expect(await finds('Charles Babbage')).toEqual([]);
  expect(await finds('machine')).toEqual(['Analytical Machine']);
  await ada.asSession('POST', `/api/v1/licenses/${id}/revoke`);
  expect(await finds('orrery')).toEqual(['Analytical Machine']);
  expect(products(await list(bob, { q: 'engine' }))).toEqual(['Bob’s Difference Engine']);
});

test('a search may hold any character, also those that mean something to the index', async () => {
  const ada = await signUp();
  const odd = `Möbius "Pro" * -- C++/C# 50%_off (new) a:b ^top 'tick' 😀👍🏽 日本語`;
  await ada.createLicense({ product: odd });
  // A generated key may begin with an M.
  await ada.createLicense({ product: 'plain', license_key: 'KEY-00000001' });
  const finds = async (q: string) => products(await list(ada, { q }));
  const within =
    '"Pro"|" *|* --|-- C++|C++/C#|50%_off|%_o|(new)|a:b|^top|\'tick\'|MÖBIUS|möbius "pro"|😀👍🏽|k\' 😀|日本語';
  for (const q of [...within.split('|'), odd.toUpperCase()]) expect([q, await finds(q)]).toEqual([q, [odd]]);
  for (const q of ['m', 'Mö']) expect([q, await finds(q)]).toEqual([q, [odd]]);

  const elsewhere = [
    '"|""|"""|*|**|pla*|-|-plain|^plain|😀|日|本語|%|%%%|_____|(|)))|;--|\\|\'|\' OR 1=1'.split('|'),
    'plain OR Pro|NOT plain|NEAR(a b)|account:a|words : plain|{words}|plain + pro'.split('|'),
    ['\u0001', '\u200b', '\ufffd', 'é'.repeat(200)],
  ].flat();
  for (const q of elsewhere) expect([q, await finds(q)]).toEqual([q, []]);
  for (const q of ['%00', 'plain%00', '%00%22', 'x'.repeat(201)]) {
    const { status, body } = await ada.asSession('GET', `/api/v1/licenses?q=${q}`);
    expect([status, body.error.details[0].path]).toEqual([400, 'q']);
  }
});

test('a search goes together with a state, and page by page', async () => {
  const ada = await signUp();
  for (const product of ['Orrery 1', 'Globe', 'Orrery 2', 'Orrery 3', 'Orrery 4', 'Orrery 5']) {
    const license = await ada.createLicense({
      product,
      expires_at: product.endsWith('2') ? '2027-03-02' : null,
    });
    if (product.endsWith('3')) await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`);
  }
  vi.setSystemTime('2027-03-03T00:00:00.000Z');
  expect(await pages(ada, { q: 'orrery' })).toEqual([
    ['Orrery 5', 'Orrery 4'],
    ['Orrery 3', 'Orrery 2'],
    ['Orrery 1'],
  ]);
  expect(await pages(ada, { q: 'or', status: 'active' })).toEqual([['Orrery 5', 'Orrery 4'], ['Orrery 1']]);
  expect(await pages(ada, { q: 'orrery', status: 'expired' })).toEqual([['Orrery 2']]);
  expect(await pages(ada, { q: 'orrery', status: 'suspended' })).toEqual([['Orrery 3']]);
  expect(await pages(ada, { q: 'orrery', status: 'revoked' })).toEqual([[]]);
});

test('a long search finds the very text, however rare or common its parts are', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const make = (customer: Customer, product: string, local: string) =>
    customer.createLicense({
      product,
      customer_email: `${local}@example.com`,
      customer_name: 'Ada Lovelace',
    });
  for (const index of [1, 2, 3, 4, 5, 6]) await make(ada, `Astrolabe ${index}`, `ada.lovelace.${index}`);
  await make(ada, 'Quadrant "50%_off" * ^AND NEAR(a b) \'x\'', 'zoe.quartermain');
  await make(ada, 'Quadrant 50%-off', 'zoe.quarterman');
  await make(ada, 'Möbius Straße Édition', 'ada.lovelace.7');
  await make(bob, 'Astrolabe of another account', 'zoe.quartermain');
  const finds = async (q: string) => products(await list(ada, { q })).map((product) => product.slice(0, 11));

  for (const q of ['zoe.quartermain@example.com', 'RTERMAIN@EXAMPLE.COM', 'quartermain@exa', 'e.quartermain'])
    expect([q, await finds(q)]).toEqual([q, ['Quadrant "5']]);
  expect(await finds('ADA.lovelace.3@example.com')).toEqual(['Astrolabe 3']);
  expect(await finds('lovelace.3@example.com')).toEqual(['Astrolabe 3']);
  expect(await finds('zoe.quarterma')).toEqual(['Quadrant 50', 'Quadrant "5']);
  expect(await finds('@example.com')).toHaveLength(9);
  expect(await pages(ada, { q: 'ada lovelace', limit: '2' })).toHaveLength(5);
  for (const q of ['quadrant "50%_off" *', '"50%_OFF" * ^and near(A b)', "^AND NEAR(a b) 'x'"])
    expect([q, await finds(q)]).toEqual([q, ['Quadrant "5']]);
  for (const q of ['möbius straße', 'MÖBIUS STRA', 'us straße édition'])
    expect([q, await finds(q)]).toEqual([q, ['Möbius Stra']]);

  // The parts of these are all there, but not in one piece.
  const elsewhere = ['zoe.lovelace@example.com', 'quadrant _50%off', 'quadrant%off', 'example.com.example'];
  for (const q of [
    ...elsewhere,
    '"quadrant" OR "astrolabe"',
    'astrolabe*',
    'Astrolabe NOT zoe',
    'other account',
  ])
    expect([q, await finds(q)]).toEqual([q, []]);
});

test('a whole license key finds its license, however it is typed, and a part of it whatever holds that', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const { license_key: key, id } = await ada.createLicense({ product: 'first' });
  await ada.createLicense({ product: 'second' });
  await ada.createLicense({ product: `instead of ${key}` });
  const finds = async (customer: Customer, q: string, status?: string) =>
    products(await list(customer, status ? { q, status } : { q }));
  for (const q of [key, key.toLowerCase(), key.replaceAll('-', ' '), ` ${key.replaceAll('0', 'O')} `])
    expect([q, await finds(ada, q)]).toEqual([q, ['first']]);
  expect(products(await list(ada, { q: key, cursor: id }))).toEqual([]);
  for (const q of [key.slice(-11), key.slice(3)])
    expect([q, await finds(ada, q)]).toEqual([q, ['instead of ' + key, 'first']]);
  expect(await finds(ada, `of ${key}`)).toEqual([`instead of ${key}`]);
  expect(await finds(bob, key)).toEqual([]);
  await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  expect(await finds(ada, key, 'suspended')).toEqual(['first']);
  expect(await finds(ada, key, 'revoked')).toEqual([]);
});

test('a search among the suspended ones gives the same whether few or many licenses hold the text', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  let made = 0;
  const suspended = async (customer: Customer, product: string) => {
    // A generated key may begin with an X.
    const { id } = await customer.createLicense({ product, license_key: `KEY-0000000${++made}` });
    await customer.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  };
  await suspended(bob, 'Sextant of another account');
  for (const index of [1, 2, 3, 4, 5]) {
    await suspended(ada, `Sextant ${index}`);
    await ada.createLicense({ product: `Sextant ${index}, active` });
  }
  await suspended(ada, 'Einzelstück Übersee');
  const status = 'suspended';
  const sextants = [['Sextant 5', 'Sextant 4'], ['Sextant 3', 'Sextant 2'], ['Sextant 1']];
  for (const q of ['Sextant', 'SEXT', 'ext', 'se'])
    expect([q, await pages(ada, { q, status })]).toEqual([q, sextants]);
  for (const q of ['sextant 3', 'tant 3', 't 3'])
    expect([q, await pages(ada, { q, status })]).toEqual([q, [['Sextant 3']]]);
  for (const q of ['ÜBERSEE', 'stück übersee', 'einzel'])
    expect([q, await pages(ada, { q, status })]).toEqual([q, [['Einzelstück Übersee']]]);
  for (const q of ['sex%ant', 'sextant_5', 'x', 'xt'])
    expect([q, await pages(ada, { q, status })]).toEqual([q, [[]]]);
  expect(await pages(ada, { q: 'sextant', status: 'revoked' })).toEqual([[]]);
});

test('a whole e-mail address finds its customer alone, page by page and in any state, and a part of it all who have it', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const make = (customer: Customer, product: string, customer_email: string) =>
    customer.createLicense({ product, customer_email });
  for (const product of ['1', '2', '3']) await make(ada, product, 'Ann@example.com');
  const { id } = await make(ada, '4', 'ann@EXAMPLE.com');
  await make(ada, 'of Joann', 'joann@example.com');
  await make(ada, 'for ann@example.com', 'joe@example.com');
  await make(bob, 'of another account', 'ann@example.com');
  const pagesOf = (q: string, status?: string) => pages(ada, status ? { q, status } : { q });

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
  // Nobody else's instead.
  expect(await pagesOf('ann@example.com', 'revoked')).toEqual([[]]);
  expect(await pagesOf('nobody@example.com')).toEqual([[]]);
});
