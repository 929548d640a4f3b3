import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { COMMANDS } from '../../../src/client/cli/commands.ts';
import { helpOf, overview } from '../../../src/client/cli/help.ts';
import { prompt } from '../../../src/client/cli/prompt.ts';
import { createAccount, type Customer } from '../support/customer.ts';
import { clientOf } from '../support/service.ts';
import { type Cli, createCli } from './support/run-cli.ts';

const { origin } = inject('dashboard');
const service = clientOf(origin);

let customer: Customer;
let apiKey: string;
let cli: Cli;
let nobody: Cli;

beforeAll(async () => {
  customer = await createAccount(service, 'cli');
  ({ api_key: apiKey } = await customer.addKey());
  cli = await createCli({ LATCHKEY_URL: `${origin}/api/v1/`, LATCHKEY_API_KEY: apiKey });
  nobody = await createCli();
});

afterAll(async () => {
  await Promise.all([cli.remove(), nobody.remove()]);
});

/** Runs a command that must succeed, and returns what it prints as JSON. */
const runJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli.run([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
};

const createLicense = async (...args: string[]) =>
  (await runJson('licenses', 'create', ...args)) as { id: string; license_key: string; status: string };

test('--help says the same as the README', async () => {
  const readme = await readFile(join(import.meta.dirname, '../../../src/client/README.md'), 'utf8');
  const documented = [...readme.matchAll(/^(?:### ([^\n]*)\n\n)?```text\n(.*?)\n```$/gms)];
  expect(documented.map(([, heading, help]) => [heading, help])).toEqual([
    [undefined, overview(COMMANDS)],
    ...COMMANDS.map((command) => [`latchkey ${command.name}`, helpOf(command)]),
  ]);
  expect(await nobody.run(['--help'])).toEqual({ code: 0, stdout: `${overview(COMMANDS)}\n`, stderr: '' });
  const { stdout } = await nobody.run(['keys', 'pull', '--help']);
  expect(stdout).toContain('Usage: latchkey keys pull [options]\n');
});

describe('login', () => {
  test('stores the URL and the key from standard input in a file that only the user can read', async () => {
    const { code, stdout, stderr } = await nobody.run(['login', '--url', origin], `${apiKey}\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(customer.email);
    expect(stdout).not.toContain(apiKey);
    const path = join(nobody.folder, 'config/latchkey/config.json');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ url: origin, api_key: apiKey });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await nobody.run(['licenses', 'list'])).code).toBe(0);
  });

  test('a prompt for a secret doesn’t echo it', async () => {
    for (const isSecret of [true, false]) {
      const [input, output] = [new PassThrough(), new PassThrough()];
      const typed = prompt('API key: ', isSecret, { input, output });
      input.write('lk_live_typed\r');
      expect(await typed).toBe('lk_live_typed');
      const shown = String(output.read());
      expect([shown.includes('API key: '), shown.includes('typed')]).toEqual([true, !isSecret]);
    }
  });

  test('rejects a bad key and keeps the file', async () => {
    const path = join(nobody.folder, 'config/latchkey/config.json');
    const before = await readFile(path, 'utf8');
    const { code, stderr } = await nobody.run(['login', '--url', origin], 'lk_live_forged');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Error: Invalid API Key\nRequest id: req_\w+\n$/);
    expect(await readFile(path, 'utf8')).toBe(before);
  });
});

describe('failures', () => {
  test('a bad key in the environment takes precedence, and the error has the request id', async () => {
    const bad = await createCli({ LATCHKEY_URL: origin, LATCHKEY_API_KEY: 'lk_live_wrong' });
    const { code, stdout, stderr } = await bad.run(['products', 'list', '--json']);
    await bad.remove();
    expect([code, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'api_key_invalid',
        message: 'Invalid API Key',
        request_id: expect.stringMatching(/^req_/),
      },
    });
  });

  test('names the invalid fields', async () => {
    const { code, stderr } = await cli.run(['licenses', 'create', '--expires-at', '2001-01-01']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('  expires_at: must be today or later\n')]);
  });

  test('verify is inconclusive without a network and behind a sign-in page', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in to the network</p>'),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cut = await createCli({ LATCHKEY_URL: url, LATCHKEY_API_KEY: apiKey });
    const portal = await cut.run(['verify', 'ABCDE']);
    server.close();
    await once(server, 'close');
    const nothing = await cut.run(['verify', 'ABCDE']);
    const checkup = await cut.run(['doctor']);
    await cut.remove();
    expect([portal.code, portal.stdout, nothing.code, nothing.stdout, checkup.code]).toEqual([
      2,
      '',
      2,
      '',
      2,
    ]);
    expect(portal.stderr).toMatch(/^Error: The answer doesn’t come from Latchkey\.\n/);
    expect(nothing.stderr).toMatch(/^Error: The service can’t be reached: connect ECONNREFUSED/);
    expect(checkup.stdout).toContain('✗ network: The service can’t be reached: connect ECONNREFUSED');
    expect(portal.stderr + nothing.stderr + checkup.stdout).not.toContain(apiKey);
  });

  test('an unknown command, an unknown option and a missing argument exit with 2', async () => {
    const lines = [['nope'], ['licenses', 'nope'], ['verify', 'A', '--nope'], ['verify']];
    for (const args of lines) {
      const { code, stdout, stderr } = await cli.run(args);
      expect([args, code, stdout]).toEqual([args, 2, '']);
      expect(stderr).toMatch(/^Error: (There is no command (licenses )?nope|Unknown option|Usage: latchkey)/);
    }
  });
});

test('verify exits with 0 for a valid license and with 1 for another', async () => {
  const { id, license_key } = await createLicense('--email', 'grace@example.com');
  const valid = await cli.run(['verify', license_key.toLowerCase()]);
  expect([valid.code, valid.stdout]).toEqual([0, expect.stringMatching(/^valid +yes\n/)]);
  expect(await runJson('licenses', 'suspend', license_key)).toMatchObject({ id, status: 'suspended' });
  const suspended = await cli.run(['verify', license_key, '--json']);
  expect([suspended.code, JSON.parse(suspended.stdout)]).toEqual([
    1,
    expect.objectContaining({ valid: false, status: 'suspended' }),
  ]);
});

test('licenses and activations are listed and changed by id or by license key', async () => {
  await customer.putProduct('orrery', { terms: { max_activations: 2 } });
  const { id, license_key } = await createLicense('--product', 'orrery', '--metadata', 'order=A=1');
  expect(await runJson('licenses', 'get', license_key)).toMatchObject({ id, metadata: { order: 'A=1' } });
  const { activation } = await customer.activate(apiKey, license_key, {
    fingerprint: 'laptop-0123',
    name: 'Lap\u001B[31mtop',
  });
  const { stdout } = await cli.run(['activations', 'list', license_key]);
  expect(stdout.split('\t').slice(0, 2)).toEqual([activation?.id, 'Lap [31mtop']);
  expect(await runJson('activations', 'list', id)).toMatchObject({ seats: { used: 1, limit: 2 } });
  await runJson('activations', 'remove', id, activation?.id ?? '');
  expect(await runJson('activations', 'list', id)).toMatchObject({ data: [], seats: { used: 0, limit: 2 } });

  expect(await runJson('licenses', 'renew', id, '--duration-days', '30')).toMatchObject({
    expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  });
  await runJson('licenses', 'suspend', id);
  expect(await runJson('licenses', 'reinstate', id)).toMatchObject({ status: 'active' });
  expect(await runJson('licenses', 'revoke', id)).toMatchObject({ status: 'revoked' });
  const { data } = await runJson('licenses', 'list', '--status', 'revoked');
  expect(data).toMatchObject([{ id }]);
  const listed = (await cli.run(['licenses', 'list', '--search', license_key])).stdout;
  expect(listed).toBe(`${id}\t${license_key}\trevoked\torrery\t${customer.email}\t${listed.split('\t')[5]}`);
});

test('products apply says which products it created, updated and left unchanged', async () => {
  const file = join(cli.folder, 'products.json');
  const apply = async (products: object[]) => {
    await writeFile(file, JSON.stringify(products));
    return (await cli.run(['products', 'apply', file])).stdout;
  };
  const sextant = { code: 'sextant', name: 'Sextant', terms: { max_activations: 2, lease_seconds: null } };
  expect(await apply([sextant])).toBe('sextant\tcreated\n');
  expect(await apply([sextant, { code: 'astrolabe' }])).toBe('sextant\tunchanged\nastrolabe\tcreated\n');
  expect(await apply([{ ...sextant, terms: {} }, { code: 'astrolabe' }])).toBe(
    'sextant\tupdated\nastrolabe\tunchanged\n',
  );
  await writeFile(file, JSON.stringify(await runJson('products', 'list')));
  expect((await cli.run(['products', 'apply', file])).stdout).not.toMatch(/created|updated/);
  await writeFile(file, JSON.stringify([{ ...sextant, term: {} }]));
  expect((await cli.run(['products', 'apply', file])).stderr).toContain('unknown field, term');
});

describe('keys and tokens', () => {
  let token: string;
  let licenseKey: string;

  beforeAll(async () => {
    const license = await createLicense();
    licenseKey = license.license_key;
    const issued = await customer.post(`/api/v1/licenses/${license.id}/token`, { fingerprint: 'air-gapped' });
    ({ token } = issued as { token: string });
  });

  test('keys pull writes the account and its public keys as JSON and as TypeScript', async () => {
    const { account, keys } = (await runJson('keys', 'pull')) as { account: string; keys: object[] };
    expect(account).toBe(customer.accountId);
    expect(keys).toEqual([{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: expect.any(String) }]);
    for (const name of ['keys.json', 'keys.ts']) await runJson('keys', 'pull', '--out', name);
    expect(JSON.parse(await readFile(join(cli.folder, 'keys.json'), 'utf8'))).toEqual({ account, keys });
    const module = (await import(join(cli.folder, 'keys.ts'))) as { keys: unknown };
    expect(module.keys).toEqual({ account, keys });
  });

  test('a verify key needs the account’s id, and without a network the file is enough', async () => {
    const { api_key } = await customer.addKey({ scope: 'verify' });
    const app = await createCli({ LATCHKEY_URL: origin, LATCHKEY_API_KEY: api_key });
    const { code, stderr } = await app.run(['keys', 'pull']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Pass --account')]);
    await app.run(['keys', 'pull', '--account', customer.accountId, '--out', 'keys.ts']);
    const offline = await createCli();
    const file = join(app.folder, 'keys.ts');
    expect((await offline.run(['token', 'inspect', token, '--keys', file])).code).toBe(0);
    await Promise.all([app.remove(), offline.remove()]);
  });

  test('token inspect takes a token, a file and standard input', async () => {
    const file = join(cli.folder, 'license.token');
    await writeFile(file, `${token}\n`);
    const options = ['--fingerprint', 'air-gapped', '--license-key', licenseKey, '--kind', 'offline'];
    const runs = await Promise.all([
      cli.run(['token', 'inspect', token, ...options]),
      cli.run(['token', 'inspect', file, ...options]),
      cli.run(['token', 'inspect', '-', ...options], token),
    ]);
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1);
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(runs[0]?.stdout).toContain('✓ It is for this license key\n');
    expect(runs[0]?.stdout).toMatch(/✓ The token is good, and the license is valid\.\n$/);
  });

  test('token inspect says what is wrong with a token', async () => {
    const [head = '', body = '', tail = ''] = token.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'latchkey+jwt' })).toString('base64url');
    const flipped = `${head}.${body}.${tail.startsWith('A') ? 'B' : 'A'}${tail.slice(1)}`;
    const expected: [string[], string, string][] = [
      [['x'.repeat(120) + '.y.z'], 'malformed', 'This isn’t a token.'],
      [[`${header}.${body}.${tail}`], 'alg', 'Its algorithm is none'],
      [[flipped], 'signature', 'The signature is wrong'],
      [[token, '--fingerprint', 'another-machine'], 'fp', 'It is for another machine'],
      [[token, '--license-key', 'ABCDE'], 'lk', 'It is for another license key.'],
      [[token, '--kind', 'online'], 'kind', 'It is an offline token.'],
    ];
    const runs = expected.map(async ([args, reason, message]) => {
      const { code, stdout } = await cli.run(['token', 'inspect', ...args, '--json']);
      const result = JSON.parse(stdout) as object;
      expect([args, code, result]).toEqual([
        args,
        1,
        expect.objectContaining({ good: false, reason, message: expect.stringContaining(message) }),
      ]);
    });
    await Promise.all(runs);
  });
});

test('webhooks listen forwards signed events to a local URL', async () => {
  const received: { id: unknown; event: unknown }[] = [];
  let secret = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const body = new Webhook(secret).verify(Buffer.concat(chunks), headers);
      received.push({ id: headers['webhook-id'], event: (body as { event: string }).event });
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  const { child, printed, ended } = cli.start('webhooks', 'listen', '--forward-to', url, '--json');
  const lines = () =>
    printed.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as object);
  await expect.poll(lines).toHaveLength(1);
  ({ secret } = lines()[0] as { secret: string });

  const { license_key } = await createLicense();
  await customer.verify(apiKey, license_key);
  await expect
    .poll(() => received.map(({ event }) => event))
    .toEqual(['license.created', 'license.verified']);
  await expect.poll(lines).toHaveLength(3);
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  expect(lines()).toMatchObject([
    { type: 'listening', forward_to: url, secret: expect.stringMatching(/^whsec_/) },
    { id: received[0]?.id, event: 'license.created', payload: { license_key }, forwarded: { status: 204 } },
    { id: received[1]?.id, event: 'license.verified', forwarded: { status: 204 } },
  ]);
  expect(printed.stdout + printed.stderr).not.toContain(apiKey);
  server.close();
});

describe('doctor', () => {
  test('checks the configuration, network, clock, key and signing keys', async () => {
    await runJson('keys', 'pull', '--out', 'pinned.json');
    const { stdout } = await cli.run(['doctor', '--keys', 'pinned.json', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { check: string; result: string }[] };
    const results = Object.fromEntries(checks.map(({ check, result }) => [check, result]));
    expect(results).toMatchObject({
      configuration: 'ok',
      network: 'ok',
      clock: 'ok',
      'API key': 'ok',
      'signing keys': 'ok',
    });
    expect(stdout).not.toContain(apiKey);
  });

  test('exits with 1 and says what to do about pinned keys of another account', async () => {
    const file = join(cli.folder, 'strange.json');
    await writeFile(file, JSON.stringify({ account: 'acct_0VJ1mKq7XbT2c9LpQwZa', keys: [] }));
    const { code, stdout } = await cli.run(['doctor', '--keys', file]);
    expect(code).toBe(1);
    expect(stdout).toContain('Run latchkey keys pull --out FILE');
  });
});
