import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { answers, useImportService } from '../support/import-service.ts';

const { service, write, run, sentLines } = useImportService();

beforeEach(() => {
  service.answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
});

test('recognizes whose file it is, and says which rows are left out', async () => {
  const sale = (key: string, recurring: string) => `p1,Orrery,ada@example.com,2024-05-01,${recurring},${key}`;
  const header = 'Purchase ID,Item Name,Purchase Email,Purchase Date,Recurring Charge?,License Key';
  const file = write(
    'sales.csv',
    [header, sale('KEY-000001', '0'), sale('KEY-000001', '1'), 'Totals'].join('\n'),
  );
  const { status, stderr } = await run('licenses', 'import', file);
  expect([status, sentLines()]).toEqual([
    0,
    [
      {
        license_key: 'KEY-000001',
        customer_email: 'ada@example.com',
        product: 'Orrery',
        expires_at: null,
        metadata: { gumroad_purchase: 'p1' },
        created_at: '2024-05-01',
      },
    ],
  ]);
  expect(stderr).toContain('Read as a file from Gumroad.');
  expect(stderr).toContain('1 left out, because it has no license key.');
  const other = await run('licenses', 'import', file, '--from', 'myspace');
  expect([other.status, other.stderr]).toEqual([2, expect.stringContaining('--from must be one of keygen')]);
});

test('guesses columns, takes --map, and asks for the order of day and month', async () => {
  const file = write('list.csv', 'Serial;Mail;Ends;Color\nAAAA-0001;ada@example.com;03/04/2027;red\n');
  const asked = await run('licenses', 'import', file);
  expect([asked.status, service.parts]).toEqual([2, []]);
  expect(asked.stderr).toContain('--dates=dmy or --dates=mdy');
  const { status, stderr } = await run('licenses', 'import', file, '--dates=dmy', '--map', 'Color=metadata');
  expect(stderr).toContain(
    'Read as: Serial → license_key, Mail → customer_email, Ends → expires_at, Color → metadata.',
  );
  expect([status, sentLines()]).toEqual([
    0,
    [
      {
        license_key: 'AAAA-0001',
        customer_email: 'ada@example.com',
        expires_at: '2027-04-03',
        metadata: { Color: 'red' },
      },
    ],
  ]);
  const dropped = await run('licenses', 'import', file, '--dates=mdy', '--map', 'Ends=none');
  expect(dropped.stderr).toContain('Left out: Ends, Color.');
  expect((await run('licenses', 'import', file, '--map', 'Nothing=product')).stderr).toContain(
    'no column Nothing',
  );
});

test('writes the rows of a JSON page that fail, with their reasons, and imports them when they are corrected', async () => {
  const license = (id: string, expiry: string) => ({
    id,
    type: 'licenses',
    attributes: { key: `KEY-00000${id}`, expiry, maxMachines: 2, metadata: {} },
  });
  const page = { data: [license('1', '2027-05-31T00:00:00Z'), license('2', 'soon')] };
  const file = write('licenses.json', JSON.stringify(page, null, 2));
  const { status, stderr } = await run('licenses', 'import', file);
  expect([status, sentLines().length]).toEqual([1, 1]);
  expect(stderr).toContain('Line 2: expiry: “soon” isn’t a date that can be read.');
  const failed = join(service.folder, 'licenses.failed.ndjson');
  expect(JSON.parse(readFileSync(failed, 'utf8'))).toMatchObject({
    key: 'KEY-000002',
    error: expect.stringContaining('expiry'),
  });
  service.parts = [];
  const mended = write('mended.ndjson', readFileSync(failed, 'utf8').replace('"soon"', 'null'));
  expect((await run('licenses', 'import', mended)).status).toBe(0);
  expect(sentLines()).toEqual([
    {
      license_key: 'KEY-000002',
      expires_at: null,
      terms: { max_activations: 2 },
      metadata: { keygen_id: '2' },
    },
  ]);
  expect(existsSync(join(service.folder, 'mended.failed.ndjson'))).toBe(false);
});
