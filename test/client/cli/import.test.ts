import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PRESETS } from '../../../src/client/cli/transfer/presets.ts';
import { readRecords } from '../../../src/client/cli/transfer/records.ts';

const CLI = join(import.meta.dirname, '../../../src/client/cli.ts');
let folder = '';
let server: Server;
/** The bodies of the parts, and what the next answers are. */
let parts: string[] = [];
let answerPart: (lines: string[], part: number) => string | null = () => null;

const answers = (lines: string[], result: (line: string) => object) =>
  [...lines.map((line, i) => ({ line: i + 1, ...result(line) })), { totals: { lines: lines.length } }]
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-import-'));
  parts = [];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      parts.push(body);
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

const records = async (file: string, isPreset = true) => {
  const found = [];
  for await (const record of readRecords(file, isPreset)) found.push(record);
  return found;
};

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

  test('sends a part again whose answer was cut off', async () => {
    const file = write('licenses.ndjson', '{"license_key":"KEY-000001"}\n');
    answerPart = (lines, part) =>
      part === 1 ? null : answers(lines, () => ({ result: part === 2 ? 'created' : 'unchanged' }));
    expect((await run('licenses', 'import', file)).status).toBe(0);
    expect(parts).toHaveLength(2);
  });
});

describe('presets', () => {
  const csvOf = async (row: Record<string, string>) =>
    (await records(write('sales.csv', `${Object.keys(row).join(',')}\n${Object.values(row).join(',')}\n`)))[0]
      ?.fields ?? {};

  test('reads Gumroad’s sales, and leaves out recurring charges and the totals', async () => {
    const sale = {
      'Purchase ID': 'p1',
      'Item Name': 'Orrery',
      'Buyer Name': 'Ada',
      'Purchase Email': 'ada@example.com',
      'Purchase Date': '2024-05-01',
      'Fully Refunded?': '0',
      'Recurring Charge?': '0',
      'License Key': '11111111-22222222',
      'License Key Enabled?': '1',
    };
    const { gumroad } = PRESETS;
    expect(gumroad?.(await csvOf(sale))).toEqual({
      license_key: '11111111-22222222',
      customer_email: 'ada@example.com',
      customer_name: 'Ada',
      product: 'Orrery',
      expires_at: null,
      metadata: { gumroad_purchase: 'p1' },
      created_at: '2024-05-01',
    });
    expect(gumroad?.({ ...sale, 'License Key Enabled?': '0' })).toMatchObject({ status: 'suspended' });
    expect(gumroad?.({ ...sale, 'Recurring Charge?': '1' })).toBe(null);
    expect(gumroad?.({ 'Purchase ID': 'Totals' })).toBe(null);
  });

  test('reads the licenses of the other services’ APIs', async () => {
    const page = (item: object, list = 'data') => write('page.json', JSON.stringify({ [list]: [item] }));
    const read = async (name: string, item: object, list?: string) =>
      PRESETS[name]?.((await records(page(item, list)))[0]?.fields ?? {});
    expect(
      await read('lemonsqueezy', {
        id: '1',
        attributes: {
          key: '80e15db5-c796-436b-850c-8f9c98a48abe',
          user_email: 'ada@example.com',
          user_name: 'Ada',
          product_id: 7,
          activation_limit: 5,
          disabled: 1,
          expires_at: '2027-05-24T14:15:07.000000Z',
          created_at: '2024-05-24T14:15:07.000000Z',
        },
      }),
    ).toEqual({
      license_key: '80e15db5-c796-436b-850c-8f9c98a48abe',
      customer_email: 'ada@example.com',
      customer_name: 'Ada',
      product: '7',
      expires_at: '2027-05-24',
      status: 'suspended',
      terms: { max_activations: 5 },
      metadata: { lemonsqueezy_id: '1' },
      created_at: '2024-05-24T14:15:07.000Z',
    });
    expect(
      await read('keygen', {
        id: 'k1',
        attributes: {
          key: 'C1B6DE',
          expiry: null,
          status: 'ACTIVE',
          maxMachines: 2,
          metadata: { email: 'a@b.co', tags: [] },
        },
      }),
    ).toEqual({
      license_key: 'C1B6DE',
      customer_email: 'a@b.co',
      expires_at: null,
      terms: { max_activations: 2 },
      metadata: { email: 'a@b.co', keygen_id: 'k1' },
    });
    expect(
      await read(
        'polar',
        {
          id: 'p1',
          key: 'ORRERY_1',
          status: 'revoked',
          limit_activations: null,
          customer: { email: 'a@b.co' },
        },
        'items',
      ),
    ).toEqual({
      license_key: 'ORRERY_1',
      customer_email: 'a@b.co',
      expires_at: null,
      status: 'revoked',
      metadata: { polar_id: 'p1' },
    });
  });
});
