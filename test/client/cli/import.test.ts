import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createOutput } from '../../../src/client/cli/output.ts';
import { answers, useImportService } from '../support/import-service.ts';

const { service, write, run, sentLines } = useImportService();

describe('licenses import', () => {
  test('sends a file in parts, and writes the failed lines to a file', async () => {
    const rows = Array.from({ length: 4_500 }, (_, i) => `KEY-${i},"a ""name"", ${i}"`);
    const file = write('licenses.csv', `\uFEFFlicense_key,customer_name\r\n${rows.join('\r\n')}\r\n`);
    service.answerPart = (lines) =>
      answers(lines, (line) =>
        line.includes('KEY-4100"')
          ? { result: 'failed', error: { code: 'no', message: 'No.' } }
          : { result: 'created' },
      );
    const { status, stdout, stderr } = await run('licenses', 'import', file, '--json');
    expect(status).toBe(1);
    expect(service.parts.map((part) => part.trimEnd().split('\n').length)).toEqual([2_000, 2_000, 500]);
    expect(JSON.parse(service.parts[0]?.split('\n')[0] ?? '')).toEqual({
      license_key: 'KEY-0',
      customer_name: 'a "name", 0',
    });
    expect(JSON.parse(stdout)).toMatchObject({
      totals: { created: 4_499, failed: 1 },
      failures: [{ line: 4_102, error: 'No.' }],
    });
    expect(stderr).toContain('Line 4102: No.');
    expect(readFileSync(join(service.folder, 'licenses.failed.csv'), 'utf8')).toBe(
      '\uFEFFlicense_key,customer_name,copy,error\nKEY-4100,"a ""name"", 4100",,No.\n',
    );
    expect(existsSync(`${file}.importing`)).toBe(false);
  });

  test('writes a line that is too long to the file of failed lines as a whole, so that it can be corrected', async () => {
    const rows = Array.from({ length: 5_000 }, (_, i) => `KEY-00${i},Name of a customer`);
    const text = (header: string, first: string) => `${header}\n${first}\n${rows.join('\n')}\n`;
    const file = write('licenses.csv', text('license_key,customer_name', 'KEY-first,"No end'));
    service.answerPart = (lines) =>
      answers(lines, (line) =>
        line === '"unreadable"' ? { result: 'failed', error: { message: 'No.' } } : { result: 'created' },
      );
    const { stdout } = await run('licenses', 'import', file, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ totals: { created: 0, failed: 1 } });
    const failed = join(service.folder, 'licenses.failed.csv');
    writeFileSync(failed, readFileSync(failed, 'utf8').replace('"', ''));
    expect(readFileSync(failed, 'utf8')).toBe(
      `${text('\uFEFFlicense_key,customer_name,copy,error', 'KEY-first,No end')}\n`,
    );
    const second = await run('licenses', 'import', failed, '--json');
    expect(JSON.parse(second.stdout).totals).toMatchObject({ created: 5_001, failed: 0 });
  });

  test('leaves a line of more than 10 million characters where it is, and says so', async () => {
    const file = write('licenses.ndjson', `{"customer_name":"${'x'.repeat(10_000_000)}"}\n`);
    service.answerPart = (lines) => answers(lines, () => ({ result: 'failed', error: { message: 'No.' } }));
    const { status, stderr } = await run('licenses', 'import', file);
    expect(status).toBe(1);
    expect(stderr).toContain(`correct it in ${file}`);
    expect(existsSync(join(service.folder, 'licenses.failed.ndjson'))).toBe(false);
  });

  test('continues after the last part that was answered', async () => {
    const file = write('licenses.ndjson', '{"customer_email":"ada@example.com"}\n'.repeat(2_001));
    const created = (lines: string[]) => answers(lines, () => ({ result: 'created' }));
    service.answerPart = (lines, part) => (part === 1 ? created(lines) : '{"error":{"message":"No"}}');
    const first = await run('licenses', 'import', file);
    expect(first.status).toBe(2);
    service.parts = [];
    service.answerPart = created;
    const second = await run('licenses', 'import', file, '--json');
    expect(second.status).toBe(0);
    expect(service.parts).toEqual(['{"customer_email":"ada@example.com","copy":2001}\n']);
    expect(JSON.parse(second.stdout).totals.created).toBe(2_001);
  });

  test('keeps the rows apart whatever their cells contain, and says why a row can’t be read', async () => {
    const rows = [
      'KEY-000001,5" disk,never',
      'KEY-000002,"two\r\nlines ""quoted""",',
      ',,',
      "KEY-000003,'=1+1,never",
      'KEY-000004,a,b,c',
      'KEY-000005,"no end',
    ];
    const file = write('rows.csv', `license_key,customer_name,product\r\n${rows.join('\r\n')}\r\n`);
    service.answerPart = (lines) =>
      answers(lines, (line) =>
        line === '"unreadable"' ? { result: 'failed', error: { message: 'No.' } } : { result: 'created' },
      );
    const { stdout } = await run('licenses', 'import', file, '--json');
    expect(JSON.parse(stdout).failures).toEqual([
      { line: 7, error: 'The line has more fields than the header.' },
      { line: 8, error: 'The line has a quote that isn’t closed.' },
    ]);
    expect(sentLines().slice(0, 3)).toEqual([
      { license_key: 'KEY-000001', customer_name: '5" disk', product: 'never' },
      { license_key: 'KEY-000002', customer_name: 'two\r\nlines "quoted"' },
      { license_key: 'KEY-000003', customer_name: '=1+1', product: 'never' },
    ]);
  });

  test('continues with the cursor where the service has stopped', async () => {
    const file = write('licenses.ndjson', '{"license_key":"KEY-000001"}\n{"license_key":"KEY-000002"}\n');
    const created = (line: number) => ({ line, result: 'created' });
    const full = { line: 2, result: 'failed', error: { code: 'too_many_lines', message: 'Go on.' } };
    service.answerPart = (_, part) =>
      (part === 1
        ? [created(1), full, { totals: {}, next_cursor: '1' }]
        : [created(2), { totals: {}, next_cursor: null }]
      )
        .map((value) => `${JSON.stringify(value)}\n`)
        .join('');
    const { status, stdout } = await run('licenses', 'import', file, '--json');
    expect([status, JSON.parse(stdout).totals]).toEqual([
      0,
      expect.objectContaining({ created: 2, failed: 0 }),
    ]);
    expect(service.paths.map((path) => path?.split('?')[1])).toEqual([
      'on_conflict=fail',
      'on_conflict=fail&cursor=1',
    ]);
    expect(service.parts[1]).toBe(service.parts[0]);
  });

  test('numbers lines without a key as the service compares them', async () => {
    const rows = ['ada@example.com,Ada', 'ADA@example.com,Ada ', 'ada@example.com,Grace'];
    const file = write('keyless.csv', `customer_email,customer_name\n${rows.join('\n')}`);
    service.answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
    await run('licenses', 'import', file);
    expect(sentLines().map(({ copy }) => copy)).toEqual([1, 2, 1]);
  });

  test('shows its progress as a bar on a terminal, and as lines elsewhere', async () => {
    const file = write('licenses.ndjson', '{"license_key":"KEY-000001"}\n'.repeat(4_000));
    service.answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
    expect((await run('licenses', 'import', file)).stderr).toBe(
      '50 %: 2000 records, 0 failed\n100 %: 4000 records, 0 failed\n',
    );
    const shown = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { isTTY } = process.stderr;
    process.stderr.isTTY = true;
    createOutput(false).bar(0.5, '2000 records');
    process.stderr.isTTY = isTTY;
    const text = shown.mock.calls[0]?.[0];
    shown.mockRestore();
    expect(text).toBe(`\r\u001B[2K${'█'.repeat(12)}${'░'.repeat(12)} 50 %  2000 records`);
  });

  test('a dry run takes it that earlier parts have created their licenses', async () => {
    const licenses = Array.from({ length: 2_000 }, (_, i) => `{"license_key":"KEY-${i}"}`);
    const machine = (key: string) => `{"type":"activation","license_key":"${key}"}`;
    const file = write('export.ndjson', [...licenses, machine('KEY-7'), machine('KEY-none')].join('\n'));
    const unknown = { result: 'failed', error: { code: 'license_not_found', message: 'License Not Found' } };
    service.answerPart = (lines, part) =>
      answers(lines, () => (part === 1 ? { result: 'created' } : unknown));
    const { stdout } = await run('licenses', 'import', file, '--dry-run', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      totals: { created: 2_001, failed: 1 },
      failures: [{ line: 2_002, error: 'License Not Found' }],
    });
  });

  test('refuses a file that is not UTF-8', async () => {
    const file = join(service.folder, 'latin.csv');
    writeFileSync(file, Buffer.from('license_key,customer_name\nKEY-000001,M\u00fcller\n', 'latin1'));
    const { status, stderr } = await run('licenses', 'import', file);
    expect([status, service.parts]).toEqual([2, []]);
    expect(stderr).toContain('isn’t UTF-8');
    service.answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
    expect((await run('licenses', 'import', file, '--encoding', 'windows-1252')).status).toBe(0);
    expect(sentLines()).toEqual([{ license_key: 'KEY-000001', customer_name: 'Müller' }]);
  });

  test('sends a part again whose answer was cut off', async () => {
    const file = write('licenses.ndjson', '{"license_key":"KEY-000001"}\n');
    service.answerPart = (lines, part) =>
      part === 1 ? null : answers(lines, () => ({ result: part === 2 ? 'created' : 'unchanged' }));
    expect((await run('licenses', 'import', file)).status).toBe(0);
    expect(service.parts).toHaveLength(2);
  });
});
