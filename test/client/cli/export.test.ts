import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ON_FULL_DISK, runCli } from '../support/tool.ts';

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

const variables = () => {
  const { port } = server.address() as AddressInfo;
  const secrets = { LATCHKEY_API_KEY: 'lk_live_x', LATCHKEY_OPERATOR_TOKEN: 'token' };
  return { LATCHKEY_URL: `http://127.0.0.1:${port}`, ...secrets };
};
const runTool = (...args: string[]) => runCli(args, variables());
const run = async (...args: string[]) => (await runTool('licenses', 'export', ...args)).status;

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
  expect(readdirSync(folder)).toEqual([]);
});

/** A file of an earlier run, which the next one must not lose. */
const earlierFile = () => {
  const file = join(folder, 'earlier.ndjson');
  writeFileSync(file, 'complete\n');
  return file;
};
const backUp = (file: string) => runTool('operator', 'backup', 'acct_1', file);

test.runIf(process.platform !== 'win32').each([
  { name: 'export', args: ['licenses', 'export', '--out'], lines: [license(1), end] },
  { name: 'backup', args: ['operator', 'backup', 'acct_1'], lines: [license(1), end] },
  {
    name: 'file of public keys',
    args: ['keys', 'pull', '--account', 'acct_1', '--out'],
    lines: [{ keys: [], chain: [] }],
  },
])('a full disk leaves the earlier $name', async ({ args, lines }) => {
  answers = [{ lines }];
  const file = join(folder, 'earlier.json');
  writeFileSync(file, 'complete\n');
  const { status, stderr } = await runCli([...args, file], variables(), ON_FULL_DISK);
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['complete\n', ['earlier.json']]);
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^Error: \S+earlier\.json can’t be written: EFBIG/),
  ]);
});

test('a backup that is cut off leaves the earlier one, and a complete one takes its place', async () => {
  answers = [{ lines: [license(1)], isCut: true }, { lines: [license(1)] }, { lines: [license(1), end] }];
  const file = earlierFile();
  for (const _ of [1, 2]) {
    const { status, stderr } = await backUp(file);
    expect([status, stderr]).toEqual([2, 'Error: The backup was cut off.\nRun the command again.\n']);
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['complete\n', ['earlier.ndjson']]);
  }
  expect((await backUp(file)).status).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(license(1))}\n${JSON.stringify(end)}\n`);
});

test('a folder that doesn’t exist is said, and is no crash', async () => {
  answers = [{ lines: [license(1), end] }];
  const { status, stderr } = await runTool('licenses', 'export', '--out', join(folder, 'no/such.ndjson'));
  expect(status).toBe(2);
  expect(stderr).toMatch(/^Error: \S+such\.ndjson can’t be written: ENOENT/);
});

test.runIf(process.platform !== 'win32')('a link still leads to its file, and a pipe stays one', async () => {
  answers = [{ lines: [license(1), end] }, { lines: [license(1), end] }];
  const [file, link, pipe] = [earlierFile(), join(folder, 'link'), join(folder, 'pipe')];
  symlinkSync(file, link);
  execFileSync('mkfifo', [pipe]);
  const arrived = readFile(pipe, 'utf8');
  expect([(await backUp(link)).status, (await backUp(pipe)).status]).toEqual([0, 0]);
  expect([lstatSync(link).isSymbolicLink(), readFileSync(file, 'utf8')]).toEqual([true, await arrived]);
  expect(readdirSync(folder)).toEqual(['earlier.ndjson', 'link', 'pipe']);
});
