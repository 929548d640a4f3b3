import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, useImportService } from '../support/import-service.ts';

const { service, write, run, sentLines } = useImportService();

const created = (lines: string[]) => answers(lines, () => ({ result: 'created' }));
const REFUSED = '{"error":{"message":"No"}}';

/** Imports a file of 2,001 licenses, of which the first fails by default, and is cut after 2,000. */
const cutImport = async (failing = 'KEY-100000') => {
  const rows = Array.from({ length: 2_001 }, (_, i) => `{"license_key":"KEY-${100_000 + i}"}\n`);
  const file = write('licenses.ndjson', rows.join(''));
  service.answerPart = (lines, part) => {
    if (part > 1) return REFUSED;
    return answers(lines, (line) =>
      line.includes(failing) ? { result: 'failed', error: { message: 'No.' } } : { result: 'created' },
    );
  };
  expect((await run('licenses', 'import', file)).status).toBe(2);
  service.parts = [];
  service.answerPart = created;
  return file;
};

const totalsOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { totals: object }).totals;

test('an import that was cut off begins anew in another account, and in another service', async () => {
  const file = await cutImport();
  service.account = 'acct_2';
  expect(totalsOf(await run('licenses', 'import', file, '--json'))).toMatchObject({ created: 2_001 });
  service.account = 'acct_1';
  await cutImport();
  service.host = 'localhost';
  expect(totalsOf(await run('licenses', 'import', file, '--json'))).toMatchObject({ created: 2_001 });
});

test('a dry run leaves an import that was cut off as it is', async () => {
  const file = await cutImport();
  const failed = join(service.folder, 'licenses.failed.ndjson');
  const kept = readFileSync(failed, 'utf8');
  expect((await run('licenses', 'import', file, '--dry-run')).status).toBe(0);
  service.parts = [];
  expect(totalsOf(await run('licenses', 'import', file, '--json'))).toMatchObject({
    created: 2_000,
    failed: 1,
  });
  expect(sentLines()).toEqual([{ license_key: 'KEY-102000' }]);
  expect([readFileSync(failed, 'utf8'), existsSync(`${file}.importing`)]).toEqual([kept, false]);
});

test('a note that names no account is not continued', async () => {
  const file = await cutImport();
  const note = JSON.parse(readFileSync(`${file}.importing`, 'utf8')) as { import: string };
  const { service: _, account: __, ...name } = JSON.parse(note.import) as Record<string, unknown>;
  writeFileSync(`${file}.importing`, JSON.stringify({ ...note, import: JSON.stringify(name) }));
  expect(totalsOf(await run('licenses', 'import', file, '--json'))).toMatchObject({ created: 2_001 });
});

test.each([
  ['one before', 'KEY-100000', 2],
  ['none before', 'no key', 1],
])('a run that is killed after it has listed a failed row lists it once: %s', async (_, failing, failed) => {
  const file = await cutImport(failing);
  const list = join(service.folder, 'licenses.failed.ndjson');
  // Before it has saved how far it has come.
  appendFileSync(list, '{"license_key":"KEY-102000","error":"No."}\n{"license_k');
  service.answerPart = (lines) => answers(lines, () => ({ result: 'failed', error: { message: 'No.' } }));
  expect(totalsOf(await run('licenses', 'import', file, '--json'))).toMatchObject({ failed });
  const rows = readFileSync(list, 'utf8').trimEnd().split('\n');
  const keys = rows.map((row) => (JSON.parse(row) as { license_key: string }).license_key);
  expect(keys).toEqual([failing, 'KEY-102000'].slice(-failed));
});
