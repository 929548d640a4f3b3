import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { clientFile } from '../../../scripts/client-package.ts';
import { checkOutBuilt, newSecrets, writeSecrets } from '../support/checkout.ts';
import { createAccount } from '../support/customer.ts';
import { cleanUp, runCommand, type Service, startService } from '../support/service.ts';

// Every `latchkey` command in the documentation runs as it is written, in a checkout and in a stranger's project. npm's
// registry is a server of ours that must not be asked: whoever owns a name there would get the API key.

const listFiles = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', '--', ...patterns], {
    encoding: 'utf8',
  })
    .split('\0')
    .filter(Boolean);
const MARKDOWN = listFiles('*.md');

const codeOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^```(?:sh|bash)\n(.*?)^```$/gms)].flatMap(([, code = '']) =>
    code.split('\n'),
  );
const COMMAND = /^(?:npm run latchkey|npx .*latchkey) /;
const COMMANDS = [
  ...new Set(
    MARKDOWN.flatMap(codeOf)
      .filter((line) => COMMAND.test(line))
      .map((line) => line.replace(/ +#.*$/, '')),
  ),
];
const TARBALL = clientFile();

let service: Service;
let checkout: string;
let elsewhere: string;
let account: string;
let apiKey: string;
const OPERATOR_TOKEN = 'an-operator-token-0123456789-0123456789';

/** What npm has asked its registry for. */
const asked: string[] = [];
const registry = createServer(({ url = '' }, response) => {
  asked.push(url);
  response.writeHead(404).end('{}');
});

/** Runs a line of the documentation in a folder, as a seller who also operates the service. */
const run = async (folder: string, line: string) => {
  const { port } = registry.address() as AddressInfo;
  const variables = {
    LATCHKEY_URL: service.origin,
    LATCHKEY_API_KEY: apiKey,
    LATCHKEY_OPERATOR_TOKEN: OPERATOR_TOKEN,
    HOME: elsewhere,
    XDG_CONFIG_HOME: join(elsewhere, 'config'),
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(elsewhere, 'npm'),
    npm_config_fetch_retries: '0',
    // It tells the registry the names of what is installed, and runs nothing.
    npm_config_audit: 'false',
  };
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const filled = line
    .replaceAll('https://latchkey.example.com', service.origin)
    .replaceAll('acct_…', account);
  return runCommand(folder, 'env', ...pairs, 'bash', '-c', `{ ${filled}\n} <<< ${apiKey}`);
};

const newProject = async (name: string) => {
  const folder = join(elsewhere, name);
  await mkdir(folder);
  writeFileSync(join(folder, 'package.json'), '{ "name": "stranger", "private": true, "type": "module" }\n');
  return folder;
};

/** Returns a project with the package, as docs/applications.md says. */
const installClient = async () => {
  const folder = await newProject('installed');
  for (const start of ['npm install https://latchkey.example.com/client/', 'npm pkg set ']) {
    const line = codeOf('docs/applications.md').find((line) => line.startsWith(start)) ?? '';
    const { code, stderr } = await run(folder, line);
    expect(code, `${line}\n${stderr}`).toBe(0);
  }
  return folder;
};

/** The files of licenses that commands name, and the pages that have them. */
const TABLES = { 'licenses.csv': 'docs/moving.md', 'customers.csv': 'docs/moving-from.md' };

let project: string;
beforeAll(async () => {
  registry.listen(0, '127.0.0.1');
  [checkout, elsewhere] = await Promise.all([
    checkOutBuilt(),
    mkdtemp(join(tmpdir(), 'latchkey-elsewhere-')),
    once(registry, 'listening'),
  ]);
  writeSecrets(checkout, { ...newSecrets(), OPERATOR_TOKEN });
  service = await startService(checkout);
  const seller = await createAccount(service, 'seller');
  account = seller.accountId;
  ({ api_key: apiKey } = await seller.addKey());
  copyFileSync(inject('clientPackage').tarball, join(elsewhere, TARBALL));
  project = await installClient();
  for (const [file, page] of Object.entries(TABLES)) {
    const [, csv = ''] = /```csv\n(.*?)```/s.exec(readFileSync(page, 'utf8')) ?? [];
    for (const folder of [checkout, project]) writeFileSync(join(folder, file), csv);
  }
});

afterAll(async () => {
  registry.close();
  await Promise.all([cleanUp(), rm(elsewhere, { recursive: true, force: true })]);
});

/**
 * The status of those that don't end with 0, with what they say. An account that has its objects is only restored with --replace,
 * and the service has one database.
 */
const REFUSED: Record<string, [number, RegExp]> = {
  'npm run latchkey -- operator move-database acct_… DB2': [2, /^Error: DATABASES doesn’t name DB2\./],
  'npm run latchkey -- operator restore acct_… account.ndjson': [2, /^Error: .*\n.*Request id/ms],
};

test('the documentation has commands of all kinds', () => {
  expect(COMMANDS.length).toBeGreaterThan(8);
  expect(COMMANDS.join('\n')).toMatch(/keys pull[^]*operator[^]*npx --yes --package/);
});

describe('in a checkout and in a project with the package, without a question to the registry,', () => {
  test.for(COMMANDS)('`%s` runs', async (line) => {
    for (const folder of [checkout, project]) {
      asked.length = 0;
      const { code, stdout, stderr } = await run(folder, line);
      expect(asked).toEqual([]);
      const [status, message] = REFUSED[line] ?? [0, /^/];
      expect([code, stderr], stdout).toEqual([status, expect.stringMatching(message)]);
    }
  });
});

test('files that a command names are where the user is', async () => {
  const folder = join(checkout, 'examples/python');
  const { code } = await run(folder, 'npm run latchkey -- keys pull --out latchkey-keys.json');
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, 'latchkey-keys.json'), 'utf8'))).toMatchObject({ account });
});

describe('without the package', () => {
  test('no command of the documentation reaches a package of the registry', async () => {
    const empty = await newProject('empty');
    await run(empty, 'npm pkg set scripts.latchkey=latchkey');
    for (const line of COMMANDS) {
      asked.length = 0;
      // Where the package isn't installed, only the service's own file runs.
      const isServed = line.startsWith('npx --yes --package https://latchkey.example.com/client/');
      expect((await run(empty, line)).code === 0, line).toBe(isServed);
      expect(asked).toEqual([]);
    }
    // What they must not do.
    await run(empty, 'npx --yes latchkey --version');
    expect(asked).toContain('/latchkey');
  });

  test('no file of the repository says to run `npx latchkey`', () => {
    const files = listFiles('*.md', '*.ts', '*.tsx', '*.js', '*.html', ':!test');
    const bare = /npx (?!--yes --package (?:\S+\.tgz|\$\{spec\}) )(?:-\S+ )*@?latchkey/;
    expect(files.filter((file) => bare.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});

test('the command says how to run another, in the way that it was run itself', async () => {
  const folder = await newProject('unknown');
  copyFileSync(join(elsewhere, TARBALL), join(folder, TARBALL));
  const nothing = 'export LATCHKEY_URL= LATCHKEY_API_KEY= XDG_CONFIG_HOME=/nothing;';
  const inProject = await run(project, `${nothing} npm run latchkey -- verify KEY`);
  expect(inProject.stderr).toContain('Run `npm run latchkey -- login`, or set LATCHKEY_URL.');
  const npx = `npx --yes --package ./${TARBALL} latchkey`;
  const unpacked = await run(folder, `${nothing} ${npx} verify KEY`);
  expect(unpacked.stderr).toContain(`Run \`${npx} login\`, or set LATCHKEY_URL.`);
  expect((await run(folder, `${npx} --help`)).stdout).toContain(`Usage: ${npx} COMMAND [options]\n`);
});
