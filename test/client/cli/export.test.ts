import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const CLI = join(import.meta.dirname, '../../../src/client/cli.ts');
let folder = '';
let server: Server;
let paths: (string | undefined)[] = [];
/** What each request gets. An answer that doesn't end is cut off. */
let answers: { lines: object[]; isCut?: true; status?: number }[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-export-'));
  paths = [];
  server = createServer((request, response) => {
    paths.push(request.url);
    const { lines, isCut, status = 200 } = answers[paths.length - 1] ?? { lines: [], isCut: true };
    response.writeHead(status, { 'content-type': 'application/x-ndjson' });
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    if (isCut) response.write(text, () => setTimeout(() => response.destroy(), 50));
    else response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const run = async (...args: string[]) => {
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, LATCHKEY_URL: `http://127.0.0.1:${port}`, LATCHKEY_API_KEY: 'lk_live_x' };
  const child = spawn(process.execPath, [CLI, 'licenses', 'export', ...args], { env, stdio: 'ignore' });
  return new Promise((resolve) => child.on('close', resolve));
};

const license = (n: number) => ({ type: 'license', license_key: `KEY-${n}` });
const end = { type: 'end', counts: { license: 3 } };

test('continues an export after its last cursor, whether an answer was cut off or full', async () => {
  answers = [
    { lines: [license(1), { type: 'cursor', cursor: 'one' }, license(2)], isCut: true },
    { lines: [license(2), { type: 'cursor', cursor: 'two' }] },
    { lines: [license(3), end] },
  ];
  const file = join(folder, 'account.ndjson');
  expect(await run('--out', file)).toBe(0);
  expect(paths).toEqual(['/api/export', '/api/export?cursor=one', '/api/export?cursor=two']);
  const lines = [license(1), license(2), license(3), end];
  expect(readFileSync(file, 'utf8')).toBe(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
});

test('writes no file if the service refuses to continue', async () => {
  answers = [
    { lines: [license(1), { type: 'cursor', cursor: 'one' }] },
    {
      lines: [{ error: { code: 'api_key_invalid', message: 'Invalid API Key', request_id: 'req_1' } }],
      status: 403,
    },
  ];
  const file = join(folder, 'account.ndjson');
  expect(await run('--out', file)).toBe(2);
  expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
});
