import { expect, test } from 'vitest';
import { missingColumns } from '../../../src/shared/rules/import/columns.ts';
import { orderIn } from '../../../src/shared/rules/import/reading.ts';
import { readText } from './read.ts';

const columnsOf = async (...names: string[]) =>
  (await readText(`${names.join(';')}\n${names.map((_, i) => `v${i}`).join(';')}\n`)).reading.columns;

test('guesses what the columns of a file are', async () => {
  expect(
    await columnsOf(
      'Lizenzschlüssel',
      'E-Mail-Adresse',
      'Vorname',
      'Nachname',
      'Firma',
      'Gültig bis',
      'Bestellnummer',
      'Farbe',
    ),
  ).toEqual({
    Lizenzschlüssel: 'license_key',
    'E-Mail-Adresse': 'customer_email',
    Vorname: 'customer_name',
    Nachname: 'customer_name',
    Firma: 'customer_company',
    'Gültig bis': 'expires_at',
    Bestellnummer: 'metadata',
    Farbe: null,
  });
  expect(
    await columnsOf('Serial', 'User Email', 'Plan', 'Status', 'Max Activations', 'Created At', 'Expiry Date'),
  ).toEqual({
    Serial: 'license_key',
    'User Email': 'customer_email',
    Plan: 'product',
    Status: 'status',
    'Max Activations': 'seats',
    'Created At': 'created_at',
    'Expiry Date': 'expires_at',
  });
});

test('keeps our own names for metadata in a table that has other columns, too', async () => {
  const text = 'license_key,metadata.seats,customer_email,Farbe\nKEY-000001,5,ada@example.com,rot\n';
  const { survey, reading, outcomes } = await readText(text);
  expect([survey.source, reading.columns['metadata.seats'], outcomes]).toEqual([
    'columns',
    'metadata',
    [{ license_key: 'KEY-000001', customer_email: 'ada@example.com', metadata: { seats: '5' } }],
  ]);
});

test('says what a file without keys or addresses means', async () => {
  expect(missingColumns(await columnsOf('Serial', 'Email', 'Farbe'))).toEqual([]);
  expect(missingColumns(await columnsOf('Vorname', 'Farbe'))).toEqual([
    expect.stringContaining('each license gets a new key'),
    expect.stringContaining('get your account’s'),
  ]);
});

test('finds addresses and keys by their form, in a file without a header', async () => {
  const { reading, outcomes } = await readText(
    'ABCD-1234-EFGH,ada@example.com\nABCD-1235-EFGH,grace@example.com\n',
  );
  expect(reading.columns).toEqual({ 'Column 1': 'license_key', 'Column 2': 'customer_email' });
  expect(outcomes).toEqual([
    { license_key: 'ABCD-1234-EFGH', customer_email: 'ada@example.com' },
    { license_key: 'ABCD-1235-EFGH', customer_email: 'grace@example.com' },
  ]);
});

test('reads a table of a German Excel', async () => {
  const rows = [
    'sep=;',
    'Schlüssel;E-Mail;Name;Produkt;Status;Gekauft am;Gültig bis;Geräte',
    'AAAA-0001;ada@example.com;Ada "die" L.;Orrery;aktiv;01.05.2024;31.12.2027;2',
    'AAAA-0002;grace@example.com;"Hopper; Grace";Orrery;gesperrt;45413;nie;unbegrenzt',
    'AAAA-0003;x@example.com;;Orrery;rot;01.05.2024;bald;viele',
    '1,23E+15;x@example.com;;Orrery;aktiv;;;',
    ';y@example.com;;Orrery;aktiv;;;',
    ';;;;;;;',
  ];
  const { survey, outcomes } = await readText(`${rows.join('\r\n')}\r\n`);
  expect(survey.source).toBe('columns');
  expect(outcomes).toEqual([
    {
      license_key: 'AAAA-0001',
      customer_email: 'ada@example.com',
      customer_name: 'Ada "die" L.',
      product: 'Orrery',
      terms: { max_activations: 2 },
      created_at: '2024-05-01',
      expires_at: '2027-12-31',
    },
    {
      license_key: 'AAAA-0002',
      customer_email: 'grace@example.com',
      customer_name: 'Hopper; Grace',
      product: 'Orrery',
      status: 'suspended',
      terms: { max_activations: 'none' },
      created_at: '2024-05-01',
      expires_at: null,
    },
    expect.stringMatching(/^failed: .*Gültig bis: “bald” .*Status: “rot” .*Geräte: “viele” /),
    'failed: Schlüssel: A spreadsheet has rounded the key to 1,23E+15. Export the file again.',
    'failed: The row has no license key.',
  ]);
});

test('asks for the order of day and month only if the dates don’t show it', async () => {
  const orderOf = async (...dates: string[]) => {
    const { survey, reading } = await readText(
      `key,expires\n${dates.map((date, i) => `KEY-000${i},${date}\n`).join('')}`,
    );
    return [orderIn(survey, reading), reading.order];
  };
  expect(await orderOf('03/04/2027', '04/04/2027')).toEqual(['unclear', null]);
  expect(await orderOf('03/04/2027', '13/04/2027')).toEqual(['dmy', 'dmy']);
  expect(await orderOf('03/04/2027', '03/14/2027')).toEqual(['mdy', 'mdy']);
  expect(await orderOf('13/04/2027', '03/14/2027')).toEqual(['unclear', null]);
  expect(await orderOf('2027-03-04', '04/04/2027')).toEqual([null, null]);
});

test('reads JSON of any service by the paths of its values', async () => {
  const item = {
    license: { key: 'AAAA-0001', expiresAt: 1_811_721_600 },
    customer: { email: 'ada@example.com' },
  };
  const { survey, outcomes } = await readText(JSON.stringify({ licenses: [item] }));
  expect(survey.columns).toEqual(['license.key', 'license.expiresAt', 'customer.email']);
  expect(outcomes).toEqual([
    { license_key: 'AAAA-0001', customer_email: 'ada@example.com', expires_at: '2027-05-31' },
  ]);
});
