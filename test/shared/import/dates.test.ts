import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNever, orderOf, readDate } from '../../../src/shared/rules/import/dates.ts';

test.for([
  ['2027-05-31', '2027-05-31'],
  ['2027/5/31', '2027-05-31'],
  ['2027-05-31T23:30:00-05:00', '2027-06-01'],
  ['2027-05-31 00:00:00 UTC', '2027-05-31'],
  ['2026-11-01 00:00:00+00:00', '2026-11-01'],
  ['2027-05-24T14:15:07.000000Z', '2027-05-24'],
  ['31.05.2027', '2027-05-31'],
  ['31.5.27', '2027-05-31'],
  ['31/05/2027 14:00', '2027-05-31'],
  ['05/31/2027 2:00 PM', '2027-05-31'],
  ['31-May-2027', '2027-05-31'],
  ['31. Mai 2027', '2027-05-31'],
  ['1. März 2027', '2027-03-01'],
  ['May 31st, 2027', '2027-05-31'],
  ['Mon, 31 May 2027 10:00:00 GMT', '2027-05-31'],
  ['Mon May 31 2027 10:00:00 GMT+0200 (Central European Summer Time)', '2027-05-31'],
  ['20270531', '2027-05-31'],
  ['46538', '2027-05-31'],
  ['46538,5', '2027-05-31'],
  ['1811721600', '2027-05-31'],
  ['1811721600000', '2027-05-31'],
])('reads %s', ([text = '', day]) => {
  expect(readDate(text, null)?.day).toBe(day);
});

test.for([
  'soon',
  '31.02.2027',
  '13/13/2027',
  '2027-13-01',
  '12',
  '99999999999999999',
  '2027-05-31 25:99',
  '',
])('reads no date in “%s”', (text) => expect(readDate(text, 'dmy')).toBe(null));

test('needs an order only for a date that can be read in two ways', () => {
  expect(
    ['03/04/2027', '13/04/2027', '03/14/2027', '03.04.2027', '04/04/2027', '2027-03-04'].map(orderOf),
  ).toEqual(['either', 'dmy', 'mdy', 'dmy', null, null]);
  expect(readDate('03/04/2027', null)).toBe(null);
  expect(readDate('03/04/2027', 'dmy')?.day).toBe('2027-04-03');
  expect(readDate('03/04/2027', 'mdy')?.day).toBe('2027-03-04');
  expect(readDate('13/04/2027', 'mdy')).toBe(null);
});

test('keeps the time of a text with a time zone', () => {
  expect(readDate('2027-05-31T10:00:00+02:00', null)?.time).toBe('2027-05-31T08:00:00.000Z');
  expect(readDate('1811721600', null)?.time).toBe('2027-05-31T00:00:00.000Z');
  expect(readDate('2027-05-31 10:00', null)?.time).toBe(undefined);
});

test('knows what stands for never', () => {
  expect(
    ['', 'never', 'Lifetime', 'UNLIMITED', '0000-00-00', '0001-01-01T00:00:00', 'unbegrenzt'].every(isNever),
  ).toBe(true);
  expect(isNever('2027-05-31')).toBe(false);
});

test('never throws, and reads what it has written', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('dmy' as const, 'mdy' as const, null),
      (text, order) => {
        readDate(text, order);
        orderOf(text);
      },
    ),
  );
  const day = fc.date({ min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(day, (date) => {
      const iso = date.toISOString().slice(0, 10);
      const [y, m, d] = iso.split('-');
      expect(readDate(iso, null)?.day).toBe(iso);
      expect(readDate(`${d}.${m}.${y}`, null)?.day).toBe(iso);
      expect(readDate(`${d}/${m}/${y}`, 'dmy')?.day).toBe(iso);
      expect(readDate(`${m}/${d}/${y}`, 'mdy')?.day).toBe(iso);
      expect(readDate(date.toUTCString(), null)?.day).toBe(iso);
    }),
  );
});
