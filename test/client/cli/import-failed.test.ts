import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, useImportService } from '../support/import-service.ts';

const { service, write, run } = useImportService();

const FAILED = {
  result: 'failed',
  error: { code: 'license_limit_reached', message: 'License Limit Reached' },
};

/** Answers as a service that takes so many licenses. The same line is the same license. */
const takeLicenses = (licenses: Set<string>, limit: number) => {
  service.answerPart = (lines) =>
    answers(lines, (line) => {
      if (licenses.has(line)) return { result: 'unchanged' };
      if (licenses.size >= limit) return FAILED;
      licenses.add(line);
      return { result: 'created' };
    });
};

const totalsOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { totals: object }).totals;

const FILES = [
  { name: 'resale.ndjson', text: '{"customer_email":"ada@example.com"}\n'.repeat(5) },
  { name: 'resale.csv', text: `customer_email,customer_name\n${'ada@example.com,Ada\n'.repeat(5)}` },
  // Of another system, which has a column of our name.
  { name: 'orders.csv', text: `E-Mail;Name;copy\n${'ada@example.com;Ada;2\n'.repeat(5)}` },
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
  expect(stderr).toContain('2 rows without a license key have the values of licenses that exist');
  await run('licenses', 'import', file);
  expect([licenses.size, existsSync(join(service.folder, 'resale.failed.csv'))]).toEqual([5, false]);
});

test('a file of failed rows says which of equal rows each is, and why it failed', async () => {
  takeLicenses(new Set(), 1);
  await run('licenses', 'import', write('resale.csv', 'customer_email\nada@example.com\nada@example.com\n'));
  expect(readFileSync(join(service.folder, 'resale.failed.csv'), 'utf8')).toBe(
    '\uFEFFcustomer_email,copy,error\nada@example.com,2,License Limit Reached\n',
  );
});
