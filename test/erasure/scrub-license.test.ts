import { expect, test } from 'vitest';
import { type HistoryRow, scrubLicense } from '../../src/erasure/scrub-license.ts';
import { ERASED_EMAIL } from '../../src/shared/rules/licenses.ts';

const EMAIL = 'ann@shop.co';

const ANN = { email: EMAIL, names: [] };
const PLAIN = { product: null, terms: {} };

const row = (seq: number, before: HistoryRow['before'], after: HistoryRow['after']): HistoryRow => ({
  seq,
  at: seq * 1_000,
  before,
  after,
});

test('an email address that contains the customer’s stays', () => {
  const metadata = { cc: 'joann@shop.co', to: 'ann@shop.com, Ann@Shop.co.', sub: 'ann@shop.co.uk' };
  const license = {
    ...PLAIN,
    customerEmail: 'joann@shop.co',
    customerName: 'Joann',
    customerCompany: null,
    metadata,
  };
  const history = [row(1, { customer_email: 'ann@shop.com' }, { customer_email: 'joann@shop.co' })];
  expect(scrubLicense(license, history, ANN)).toEqual({
    license: { ...license, metadata: { ...metadata, to: `ann@shop.com, ${ERASED_EMAIL}.` } },
    changes: [],
    isChanged: true,
    names: [],
    untilMs: 0,
  });
});

const PEOPLE = [
  "o'brien@shop.co",
  "d'brien@shop.co",
  'ébrien@shop.co',
  'e\u0301brien@shop.co',
  'я_brien@shop.co',
  'x.brien@shop.co',
  'brien@shop.coé',
  'brien@shop.co.ру',
  'brien@shop.co-op.com',
];

test.each(PEOPLE)('the address %s, which contains an erased one, stays whole wherever it is', (address) => {
  const license = {
    ...PLAIN,
    customerEmail: address,
    customerName: null,
    customerCompany: null,
    metadata: { cc: `<${address}>, 'brien@shop.co'; ’brien@shop.co’ 和brien@shop.co。` },
  };
  const history = [row(1, { customer_email: 'bob@shop.co' }, { customer_email: address })];
  const person = { email: 'brien@shop.co', names: [] };
  expect(scrubLicense(license, history, person)).toMatchObject({
    license: {
      customerEmail: address,
      metadata: { cc: expect.stringContaining(`<${address}>, '${ERASED_EMAIL}'`) },
    },
    changes: [],
    untilMs: 0,
  });
});

test('a name goes from the history if the license had it while it was the customer’s', () => {
  const license = {
    ...PLAIN,
    customerEmail: 'bob@shop.co',
    customerName: 'Bob',
    customerCompany: null,
    metadata: {},
  };
  const history = [
    row(1, { customer_email: EMAIL }, { customer_email: 'bob@shop.co' }),
    row(2, { customer_name: 'Ann' }, { customer_name: 'B.' }),
    row(3, { customer_name: 'B.', product: 'mill' }, { customer_name: 'Bob', product: null }),
  ];
  expect(scrubLicense(license, history, ANN)).toEqual({
    license,
    changes: [
      row(1, { customer_email: ERASED_EMAIL }, { customer_email: 'bob@shop.co' }),
      row(2, { customer_name: null }, { customer_name: 'B.' }),
    ],
    isChanged: true,
    names: ['Ann'],
    untilMs: 1_000,
  });
});

test('a company goes with its customer, from metadata, too', () => {
  const metadata = { billTo: 'Ann & Co.', note: 'for Ann  & CO., by mail' };
  const license = { ...PLAIN, customerEmail: EMAIL, customerName: null, customerCompany: null, metadata };
  const history = [row(1, { customer_company: 'Ann & Co.' }, { customer_company: null })];
  expect(scrubLicense(license, history, ANN)).toMatchObject({
    license: { customerCompany: null, metadata: { billTo: 'erased', note: 'for erased, by mail' } },
    changes: [row(1, {}, {})],
  });
});

test('a change of nothing but the customer is empty afterwards', () => {
  const license = {
    ...PLAIN,
    customerEmail: 'ANN@shop.co',
    customerName: null,
    customerCompany: null,
    metadata: {},
  };
  const history = [
    row(1, { customer_name: 'Ann', status: 'active' }, { customer_name: null, status: 'active' }),
  ];
  expect(scrubLicense(license, history, ANN)).toEqual({
    license: { ...license, customerEmail: ERASED_EMAIL },
    changes: [row(1, {}, {})],
    isChanged: true,
    names: ['Ann'],
    untilMs: null,
  });
});

test('a name is found as whole words in values and in names of fields, and stays where a product has the text, too', () => {
  const license = {
    product: 'mill',
    terms: {
      max_activations: 'none' as const,
      entitlements: { 'for Max Mill': true, edition: 'mill', by: 'MAX  MILL' },
    },
    customerEmail: EMAIL,
    customerName: 'Max Mill',
    customerCompany: 'Mill',
    metadata: { 'max.mill': 1, 'Max Mill': 2, erased: 3, note: 'Maximill, milling, and max-mill' },
  };
  expect(scrubLicense(license, [], ANN, new Set(['mill', 'edition'])).license).toEqual({
    product: 'mill',
    terms: { max_activations: 'none', entitlements: { 'for erased': true, edition: 'mill', by: 'erased' } },
    customerEmail: ERASED_EMAIL,
    customerName: null,
    customerCompany: null,
    metadata: { 'erased 2': 1, 'erased 3': 2, erased: 3, note: 'Maximill, milling, and erased' },
  });
});

test('a license of another customer that mentions the person loses the address and the name, and keeps its own names', () => {
  const license = {
    ...PLAIN,
    customerEmail: 'boss@shop.co',
    customerName: 'Bo Shop',
    customerCompany: 'Shop Ltd',
    metadata: { paid_by: `Ann Lee of Shop Ltd <${EMAIL}>` },
  };
  const person = { email: EMAIL, names: ['Ann Lee', 'Shop Ltd'] };
  expect(scrubLicense(license, [], person)).toMatchObject({
    license: { ...license, metadata: { paid_by: `erased of Shop Ltd <${ERASED_EMAIL}>` } },
    isChanged: true,
    untilMs: 0,
  });
});

test('a short name is replaced where it is the whole text, and a name without spaces between words everywhere', () => {
  const license = {
    ...PLAIN,
    customerEmail: EMAIL,
    customerName: 'X',
    customerCompany: '李明',
    metadata: { size: 'x-large', by: ' x', owner: '李明的许可证' },
  };
  expect(scrubLicense(license, [], ANN).license.metadata).toEqual({
    size: 'x-large',
    by: 'erased',
    owner: 'erased的许可证',
  });
});

test.each([
  ['Ann Lee', 'Ann Leeさん, Ann Lee에게, לAnn Lee', 'erasedさん, erased에게, לerased'],
  ['Ann Lee', 'Joann Lee, Ann Leeds', 'Joann Lee, Ann Leeds'],
  ['김민수', '김민수님', 'erased님'],
  ['김민수', '박김민수', '박김민수'],
  ['박준', '대박준비', '대박준비'],
  ['Ann - Lee', 'Ann Lee, Ann - Lee', 'erased, erased'],
  ['---', 'a --- b', 'a --- b'],
  ['דוד', 'דודה', 'דודה'],
])(
  'the name %s is found next to words that have no space before it, and in no other word',
  (name, said, then) => {
    const own = { customerEmail: EMAIL, customerName: name, customerCompany: null };
    const license = { ...PLAIN, ...own, metadata: { said } };
    expect(scrubLicense(license, [], ANN).license.metadata).toEqual({ said: then });
  },
);

test('an address is found between quotation marks, and next to words that have no spaces', () => {
  const said = [
    "'Ann@shop.co'",
    '’ann@shop.co’',
    '请联系ann@shop.co。',
    'ann@shop.coです',
    'ann@shop.co에게',
    'ann@shop.co로',
    'לann@shop.co',
    'لann@shop.co',
    'ann@shop.co-nak',
    'le mail d’ann@shop.co',
    "le mail d'ann@shop.co",
    'an ann@shop.co.',
  ];
  const license = {
    ...PLAIN,
    customerEmail: '李ann@shop.co',
    customerName: null,
    customerCompany: null,
    metadata: { said: said.join() },
  };
  const { metadata, customerEmail } = scrubLicense(license, [], ANN).license;
  expect(metadata).toEqual({ said: said.join().replaceAll(/ann@shop\.co/gi, ERASED_EMAIL) });
  expect(customerEmail).toBe('李ann@shop.co');
});

test('a name of dashes costs no more than another one, however long the text is that it could be in', () => {
  const said = `${'- '.repeat(5_000)}notes`;
  const own = { customerEmail: EMAIL, customerName: '- - - - - Ltd', customerCompany: '---' };
  expect(scrubLicense({ ...PLAIN, ...own, metadata: { said } }, [], ANN).license.metadata).toEqual({ said });
});
