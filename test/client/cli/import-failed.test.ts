import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, useImportService } from '../support/import-service.ts';

const { service, write, run } = useImportService();

const FAILED = {
  result: 'failed',
  error: { code: 'license_limit_reached', message: 'License Limit Reached' },
};

const UNKNOWN = { result: 'failed', error: { code: 'unknown_product', message: 'Unknown Product' } };

/** Answers as a service that takes so many licenses of its products. The same line is the same license. */
const takeLicenses = (licenses: Set<string>, limit: number, products?: string[]) => {
  service.answerPart = (lines) =>
    answers(lines, (line) => {
      const fields = JSON.parse(line) as Record<string, unknown>;
      if (products?.includes(String(fields['product'])) === false) return UNKNOWN;
      const license = JSON.stringify(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      if (licenses.has(license)) return { result: 'unchanged' };
      if (licenses.size >= limit) return FAILED;
      licenses.add(license);
      return { result: 'created' };
    });
};

const totalsOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { totals: object }).totals;

const FILES = [
  { name: 'resale.ndjson', text: '{"customer_email":"ada@example.com"}\n'.repeat(5) },
  { name: 'resale.csv', text: `customer_email,customer_name\n${'ada@example.com,Ada\n'.repeat(5)}` },
  // Of another system, which has a column of our name.
  { name: 'orders.csv', text: `E-Mail;Name;copy\n${'ada@example.com;Ada;2\n'.repeat(5)}` },
  // What a spreadsheet would take for a formula, and spaces that count.
  {
    name: 'notes.csv',
    text: `customer_email,metadata\n${'ada@example.com,"{""note"":""Ada;=1""}"\n'.repeat(5)}`,
  },
  { name: 'days.csv', text: `customer_email,duration_days\n${'ada@example.com,-1\n'.repeat(5)}` },
  { name: 'entries.csv', text: `customer_email,metadata.note\n${'ada@example.com, Ada \n'.repeat(5)}` },
];

test.each(FILES)('equal rows of $name that met a limit become licenses later', async ({ name, text }) => {
  const licenses = new Set<string>();
  const file = write(name, text);
  takeLicenses(licenses, 3);
  expect(totalsOf(await run('licenses', 'import', file, '--json'))).toMatchObject({ created: 3, failed: 2 });
  takeLicenses(licenses, 4);
  const failed = file.replace('.', '.failed.');
  const again = await run('licenses', 'import', failed, '--json');
  expect(totalsOf(again)).toMatchObject({ created: 1, unchanged: 0, failed: 1 });
  takeLicenses(licenses, 99);
  const rest = await run('licenses', 'import', failed.replace('.failed.', '.failed.failed.'), '--json');
  expect(totalsOf(rest)).toMatchObject({ created: 1, unchanged: 0, failed: 0 });
  // The whole file again creates nothing.
  expect(totalsOf(await run('licenses', 'import', file, '--json'))).toMatchObject({ unchanged: 5 });
});

test('rows that failed before rows were numbered are not passed over in silence', async () => {
  const licenses = new Set<string>();
  takeLicenses(licenses, 3);
  const file = write('resale.csv', `customer_email\n${'ada@example.com\n'.repeat(5)}`);
  await run('licenses', 'import', file);
  takeLicenses(licenses, 99);
  const row = 'ada@example.com,License Limit Reached\n';
  const { stderr } = await run('licenses', 'import', write('old.csv', `customer_email,error\n${row}${row}`));
  expect(stderr).toContain('2 rows without a license key created no license');
  await run('licenses', 'import', file);
  expect([licenses.size, existsSync(join(service.folder, 'resale.failed.csv'))]).toEqual([5, false]);
});

test('a file of failed rows says which of equal rows each is, and why it failed', async () => {
  takeLicenses(new Set(), 1);
  await run('licenses', 'import', write('resale.csv', 'customer_email\nada@example.com\nada@example.com\n'));
  expect(readFileSync(join(service.folder, 'resale.failed.csv'), 'utf8')).toBe(
    '\uFEFFcustomer_email,copy,error\nada@example.com,2614887,License Limit Reached\n',
  );
});

const THREE = ['orery', 'orrery', 'orrerry'];
const SALES = [
  {
    name: 'sales.csv',
    text: `customer_email,product\n${THREE.map((name) => `ada@example.com,${name}\n`).join('')}`,
  },
  {
    name: 'sales.ndjson',
    text: THREE.map((product) => `${JSON.stringify({ customer_email: 'ada@example.com', product })}\n`).join(
      '',
    ),
  },
  // Of another system. A date that can't be read isn't sent.
  {
    name: 'orders.csv',
    text: `E-Mail;Name;type;Product;Ends\n${['orery;1.2.2030', 'orrery;1.2.2030', 'orrery;soon', 'orrery;soon'].map((rest) => `ada@example.com;Ada;x;${rest}\n`).join('')}`,
  },
];

test.each(SALES)(
  'rows of $name that are corrected to the same values are a license each',
  async ({ name, text }) => {
    const flags = ['--json', '--allow-unknown-product', '--dates', 'dmy'];
    const licenses = new Set<string>();
    takeLicenses(licenses, 99, ['orrery']);
    const file = write(name, text);
    const rows = text.match(/ada/g)?.length ?? 0;
    const first = await run('licenses', 'import', file, ...flags);
    expect(totalsOf(first)).toMatchObject({ created: 1, failed: rows - 1 });
    const failed = file.replace('.', '.failed.');
    const corrected = readFileSync(failed, 'utf8')
      .replaceAll(/orery|orrerry/g, 'orrery')
      .replaceAll('soon', '1.2.2030');
    writeFileSync(failed, corrected);
    // One is over the limit now, and is still itself later.
    takeLicenses(licenses, rows - 1, ['orrery']);
    expect(totalsOf(await run('licenses', 'import', failed, ...flags))).toMatchObject({
      created: rows - 2,
      failed: 1,
    });
    takeLicenses(licenses, 99, ['orrery']);
    const rest = await run('licenses', 'import', failed.replace('.failed.', '.failed.failed.'), ...flags);
    expect(totalsOf(rest)).toMatchObject({ created: 1, failed: 0 });
    // The corrected file again creates nothing, and has nothing that needs a decision.
    const again = await run('licenses', 'import', failed, ...flags);
    expect([totalsOf(again), again.stderr]).toMatchObject([
      { created: 0, unchanged: rows - 1 },
      expect.not.stringContaining('same values'),
    ]);
  },
);

test('rows that fail because of something else, and stay as they are, are the same in either file', async () => {
  const licenses = new Set<string>();
  const file = write('sales.csv', `customer_email,product\n${'ada@example.com,orrery\n'.repeat(3)}`);
  takeLicenses(licenses, 99, []);
  await run('licenses', 'import', file, '--allow-unknown-product');
  takeLicenses(licenses, 99, ['orrery']);
  const flags = ['--json', '--allow-unknown-product'];
  const failed = await run('licenses', 'import', file.replace('.', '.failed.'), ...flags);
  expect(totalsOf(failed)).toMatchObject({ created: 3 });
  expect(totalsOf(await run('licenses', 'import', file, ...flags))).toMatchObject({
    created: 0,
    unchanged: 3,
  });
});

test('a file of failed rows with the numbers of an earlier version is imported by them', async () => {
  const licenses = new Set<string>();
  takeLicenses(licenses, 99);
  const rows = [1, 1, 2].map((copy) => `ada@example.com,${copy},Unknown Product\n`).join('');
  const file = write('old.failed.csv', `customer_email,copy,error\n${rows}`);
  const { stdout, stderr } = await run('licenses', 'import', file, '--json');
  expect(totalsOf({ stdout })).toMatchObject({ created: 2, unchanged: 1 });
  expect(stderr).toContain('1 row without a license key created no license');
});
