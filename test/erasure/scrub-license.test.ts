import { expect, test } from 'vitest';
import { type HistoryRow, scrubLicense } from '../../src/erasure/scrub-license.ts';
import { ERASED_EMAIL } from '../../src/shared/rules/licenses.ts';

const EMAIL = 'ann@shop.co';

const row = (seq: number, before: HistoryRow['before'], after: HistoryRow['after']): HistoryRow => ({
  seq,
  at: seq * 1_000,
  before,
  after,
});

test('an email address that contains the customer’s stays', () => {
  const metadata = { cc: 'joann@shop.co', to: 'ann@shop.com, Ann@Shop.co.', sub: 'ann@shop.co.uk' };
  const license = { customerEmail: 'joann@shop.co', customerName: 'Joann', customerCompany: null, metadata };
  const history = [row(1, { customer_email: 'ann@shop.com' }, { customer_email: 'joann@shop.co' })];
  expect(scrubLicense(license, history, EMAIL)).toEqual({
    license: { ...license, metadata: { ...metadata, to: `ann@shop.com, ${ERASED_EMAIL}.` } },
    changes: [],
    untilMs: 0,
  });
});

test('a name goes from the history if the license had it while it was the customer’s', () => {
  const license = { customerEmail: 'bob@shop.co', customerName: 'Bob', customerCompany: null, metadata: {} };
  const history = [
    row(1, { customer_email: EMAIL }, { customer_email: 'bob@shop.co' }),
    row(2, { customer_name: 'Ann' }, { customer_name: 'B.' }),
    row(3, { customer_name: 'B.', product: 'mill' }, { customer_name: 'Bob', product: null }),
  ];
  expect(scrubLicense(license, history, EMAIL)).toEqual({
    license,
    changes: [
      row(1, { customer_email: ERASED_EMAIL }, { customer_email: 'bob@shop.co' }),
      row(2, { customer_name: null }, { customer_name: 'B.' }),
    ],
    untilMs: 1_000,
  });
});

test('a company goes with its customer, from metadata, too', () => {
  const metadata = { billTo: 'Ann & Co.', note: 'for Ann & Co.' };
  const license = { customerEmail: EMAIL, customerName: null, customerCompany: null, metadata };
  const history = [row(1, { customer_company: 'Ann & Co.' }, { customer_company: null })];
  expect(scrubLicense(license, history, EMAIL)).toMatchObject({
    license: { customerCompany: null, metadata: { ...metadata, billTo: 'erased' } },
    changes: [row(1, {}, {})],
  });
});

test('a change of nothing but the customer is empty afterwards', () => {
  const license = { customerEmail: 'ANN@shop.co', customerName: null, customerCompany: null, metadata: {} };
  const history = [
    row(1, { customer_name: 'Ann', status: 'active' }, { customer_name: null, status: 'active' }),
  ];
  expect(scrubLicense(license, history, EMAIL)).toEqual({
    license: { customerEmail: ERASED_EMAIL, customerName: null, customerCompany: null, metadata: {} },
    changes: [row(1, {}, {})],
    untilMs: null,
  });
});
