import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOutput } from '../../../src/client/cli/output.ts';

const CLI = join(import.meta.dirname, '../../../src/client/cli.ts');
let folder = '';
let server: Server;
/** The bodies of the parts, and what the next answers are. */
let parts: string[] = [];
let paths: (string | undefined)[] = [];
/** The account's products, and how often they were read. */
let products: { code: string; name: string | null }[] = [];
let productReads = 0;
let answerPart: (lines: string[], part: number) => string | null = () => null;

const answers = (lines: string[], result: (line: string) => object) =>
  [...lines.map((line, i) => ({ line: i + 1, ...result(line) })), { totals: { lines: lines.length } }]
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-import-'));
  parts = [];
  paths = [];
  products = [];
  productReads = 0;
  server = createServer((request, response) => {
    if (request.method === 'GET') {
      productReads++;
      const page = JSON.stringify({ data: products, next_cursor: null });
      response.writeHead(200, { 'content-type': 'application/json' }).end(page);
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      parts.push(body);
      paths.push(request.url);
      const answer = answerPart(body.trimEnd().split('\n'), parts.length);
      if (answer === null) response.destroy();
      else {
        const status = answer.startsWith('{"error"') ? 403 : 200;
        response.writeHead(status, { 'content-type': 'application/x-ndjson' }).end(answer);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const run = async (...args: string[]) => {
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, LATCHKEY_URL: `http://127.0.0.1:${port}`, LATCHKEY_API_KEY: 'lk_live_x' };
  const child = spawn(process.execPath, [CLI, ...args], { env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
};

/** The lines of the first part. */
const sentLines = () =>
  (parts[0] ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('licenses import', () => {
  test('sends a file in parts, and writes the failed lines to a file', async () => {
    const rows = Array.from({ length: 4_500 }, (_, i) => `KEY-${i},"a ""name"", ${i}"`);
    const file = write('licenses.csv', `\uFEFFlicense_key,customer_name\r\n${rows.join('\r\n')}\r\n`);
    answerPart = (lines) =>
      answers(lines, (line) =>
        line.includes('KEY-4100"')
          ? { result: 'failed', error: { code: 'no', message: 'No.' } }
          : { result: 'created' },
      );
    const { status, stdout, stderr } = await run('licenses', 'import', file, '--json');
    expect(status).toBe(1);
    expect(parts.map((part) => part.trimEnd().split('\n').length)).toEqual([2_000, 2_000, 500]);
    expect(JSON.parse(parts[0]?.split('\n')[0] ?? '')).toEqual({
      license_key: 'KEY-0',
      customer_name: 'a "name", 0',
    });
    expect(JSON.parse(stdout)).toMatchObject({
      totals: { created: 4_499, failed: 1 },
      failures: [{ line: 4_102, error: 'No.' }],
    });
    expect(stderr).toContain('Line 4102: No.');
    expect(readFileSync(join(folder, 'licenses.failed.csv'), 'utf8')).toBe(
      'license_key,customer_name\nKEY-4100,"a ""name"", 4100"\n',
    );
    expect(existsSync(`${file}.importing`)).toBe(false);
  });

  test('writes a line that is too long to the file of failed lines as a whole, so that it can be corrected', async () => {
    const rows = Array.from({ length: 5_000 }, (_, i) => `KEY-00${i},Name of a customer`);
    const text = (first: string) => `license_key,customer_name\n${first}\n${rows.join('\n')}\n`;
    const file = write('licenses.csv', text('KEY-first,"No end'));
    answerPart = (lines) =>
      answers(lines, (line) =>
        line === '"unreadable"' ? { result: 'failed', error: { message: 'No.' } } : { result: 'created' },
      );
    const { stdout } = await run('licenses', 'import', file, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ totals: { created: 0, failed: 1 } });
    const failed = join(folder, 'licenses.failed.csv');
    writeFileSync(failed, readFileSync(failed, 'utf8').replace('"', ''));
    expect(readFileSync(failed, 'utf8')).toBe(`${text('KEY-first,No end')}\n`);
    const second = await run('licenses', 'import', failed, '--json');
    expect(JSON.parse(second.stdout).totals).toMatchObject({ created: 5_001, failed: 0 });
  });

  test('leaves a line of more than 10 million characters where it is, and says so', async () => {
    const file = write('licenses.ndjson', `{"customer_name":"${'x'.repeat(10_000_000)}"}\n`);
    answerPart = (lines) => answers(lines, () => ({ result: 'failed', error: { message: 'No.' } }));
    const { status, stderr } = await run('licenses', 'import', file);
    expect(status).toBe(1);
    expect(stderr).toContain(`correct it in ${file}`);
    expect(existsSync(join(folder, 'licenses.failed.ndjson'))).toBe(false);
  });

  test('continues after the last part that was answered', async () => {
    const file = write('licenses.ndjson', '{"customer_email":"ada@example.com"}\n'.repeat(2_001));
    const created = (lines: string[]) => answers(lines, () => ({ result: 'created' }));
    answerPart = (lines, part) => (part === 1 ? created(lines) : '{"error":{"message":"No"}}');
    const first = await run('licenses', 'import', file);
    expect(first.status).toBe(2);
    parts = [];
    answerPart = created;
    const second = await run('licenses', 'import', file, '--json');
    expect(second.status).toBe(0);
    expect(parts).toEqual(['{"customer_email":"ada@example.com","copy":2001}\n']);
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
    answerPart = (lines) =>
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

  describe('of products that another service names', () => {
    const sales = (...names: string[]) =>
      write(
        'sales.csv',
        `License Key,Item Name\n${names.map((name, i) => `KEY-00000${i},${name}`).join('\n')}\n`,
      );
    const sentProducts = () => sentLines().map(({ product }) => product);

    beforeEach(() => {
      products = [
        { code: 'orrery-pro', name: 'Orrery Pro' },
        { code: 'sx-2', name: 'Sextant' },
      ];
      answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
    });

    test('maps names to codes, and warns of unknown ones before it sends', async () => {
      const file = sales('Orrery PRO', 'Sextant', 'Sextan', 'Sextan', 'orrery-pro');
      const { stderr } = await run('licenses', 'import', file, '--from', 'gumroad');
      expect(sentProducts()).toEqual(['orrery-pro', 'sx-2', 'Sextan', 'Sextan', 'orrery-pro']);
      expect(stderr).toContain('The product Orrery PRO is imported as orrery-pro.');
      expect(stderr).toContain('2 lines name the product Sextan, which doesn’t exist. Did you mean "sx-2"?');
      expect(stderr).toContain('--map-product=NAME=CODE');
      expect([productReads, parts.length]).toEqual([1, 1]);
    });

    test('takes codes from --map-product, and labels with --allow-unknown-product', async () => {
      const file = sales('4711', 'Old=News');
      const from = ['licenses', 'import', file, '--from', 'gumroad', '--map-product', '4711=sx-2', '--json'];
      const { stderr } = await run(...from, '--allow-unknown-product');
      expect(sentProducts()).toEqual(['sx-2', 'Old=News']);
      expect(paths[0]).toContain('allow_unknown_product=true');
      expect(stderr).not.toContain('Old=News');
      parts = [];
      await run(...from, '--map-product', 'Old=News=orrery-pro');
      expect(sentProducts()).toEqual(['sx-2', 'orrery-pro']);
      expect((await run('licenses', 'import', file, '--map-product', 'nothing')).stderr).toContain(
        '--map-product must be NAME=CODE',
      );
    });

    test('leaves a file of its own format as it is, and an account without products alone', async () => {
      const rows = [
        { type: 'product', code: 'made-here' },
        { license_key: 'KEY-000001', product: 'Sextant' },
        { license_key: 'KEY-000002', product: 'made-here' },
        { type: 'license', id: 'lic_1', license_key: 'KEY-000003', product: 'Old label' },
      ];
      const file = write('own.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const { stderr } = await run('licenses', 'import', file, '--json');
      expect(sentProducts()).toEqual([undefined, 'Sextant', 'made-here', 'Old label']);
      expect(stderr).toContain('1 line names the product Sextant, which doesn’t exist. Did you mean "sx-2"?');
      expect(stderr).not.toMatch(/made-here|Old label/);
      products = [];
      const empty = await run('licenses', 'import', sales('Any label'), '--from', 'gumroad', '--json');
      expect([empty.status, empty.stderr]).toEqual([0, expect.not.stringContaining('Any label')]);
    });
  });

  test('continues with the cursor where the service has stopped', async () => {
    const file = write('licenses.ndjson', '{"license_key":"KEY-000001"}\n{"license_key":"KEY-000002"}\n');
    const created = (line: number) => ({ line, result: 'created' });
    const full = { line: 2, result: 'failed', error: { code: 'too_many_lines', message: 'Go on.' } };
    answerPart = (_, part) =>
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
    expect(paths.map((path) => path?.split('?')[1])).toEqual([
      'on_conflict=fail',
      'on_conflict=fail&cursor=1',
    ]);
    expect(parts[1]).toBe(parts[0]);
  });

  test('numbers lines without a key as the service compares them', async () => {
    const rows = ['ada@example.com,Ada', 'ADA@example.com,Ada ', 'ada@example.com,Grace'];
    const file = write('keyless.csv', `customer_email,customer_name\n${rows.join('\n')}`);
    answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
    await run('licenses', 'import', file);
    expect(sentLines().map(({ copy }) => copy)).toEqual([1, 2, 1]);
  });

  test('shows its progress as a bar on a terminal, and as lines elsewhere', async () => {
    const file = write('licenses.ndjson', '{"license_key":"KEY-000001"}\n'.repeat(4_000));
    answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
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
    answerPart = (lines, part) => answers(lines, () => (part === 1 ? { result: 'created' } : unknown));
    const { stdout } = await run('licenses', 'import', file, '--dry-run', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      totals: { created: 2_001, failed: 1 },
      failures: [{ line: 2_002, error: 'License Not Found' }],
    });
  });

  test('refuses a file that is not UTF-8', async () => {
    const file = join(folder, 'latin.csv');
    writeFileSync(file, Buffer.from('license_key,customer_name\nKEY-000001,M\u00fcller\n', 'latin1'));
    const { status, stderr } = await run('licenses', 'import', file);
    expect([status, parts]).toEqual([2, []]);
    expect(stderr).toContain('isn’t UTF-8');
  });

  test('sends a part again whose answer was cut off', async () => {
    const file = write('licenses.ndjson', '{"license_key":"KEY-000001"}\n');
    answerPart = (lines, part) =>
      part === 1 ? null : answers(lines, () => ({ result: part === 2 ? 'created' : 'unchanged' }));
    expect((await run('licenses', 'import', file)).status).toBe(0);
    expect(parts).toHaveLength(2);
  });
});
