import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../src/client/cli/commands.ts';
import { helpOf, overview } from '../../../src/client/cli/help.ts';
import { prompt } from '../../../src/client/cli/prompt.ts';
import { type Cli, createCli } from './support/run-cli.ts';
import { createSeller, type Seller } from './support/seller.ts';

let origin: string;
let customer: Seller['customer'];
let apiKey: string;
let cli: Cli;
let runJson: Seller['runJson'];
let createLicense: Seller['createLicense'];
let nobody: Cli;

beforeAll(async () => {
  ({ origin, customer, apiKey, cli, runJson, createLicense } = await createSeller());
  nobody = await createCli();
});

afterAll(async () => {
  await Promise.all([cli.remove(), nobody.remove()]);
});

test('--help says the same as the README', async () => {
  const readme = await readFile(join(import.meta.dirname, '../../../src/client/README.md'), 'utf8');
  const documented = [...readme.matchAll(/^(?:### ([^\n]*)\n\n)?```text\n(.*?)\n```$/gms)];
  expect(documented.map(([, heading, help]) => [heading, help])).toEqual([
    [undefined, overview(COMMANDS)],
    ...COMMANDS.map((command) => [`latchkey ${command.name}`, helpOf(command)]),
  ]);
  expect(await nobody.run(['--help'])).toEqual({ code: 0, stdout: `${overview(COMMANDS)}\n`, stderr: '' });
  const { stdout } = await nobody.run(['keys', 'pull', '--help']);
  expect(stdout).toContain('Usage: npm run latchkey -- keys pull [options]\n');
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

  test('verify is inconclusive without a network, behind a sign-in page, and with another service’s answer', async () => {
    const answers = [
      ['text/html', '<p>Sign in to the network</p>'],
      ['application/json', '{"status":"ok"}'],
    ];
    const server = createServer((_request, response) => {
      const [type = '', body] = answers.shift() ?? [];
      response.writeHead(200, { 'content-type': type }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cut = await createCli({ LATCHKEY_URL: url, LATCHKEY_API_KEY: apiKey });
    const portal = await cut.run(['verify', 'ABCDE']);
    const other = await cut.run(['verify', 'ABCDE']);
    server.close();
    await once(server, 'close');
    const nothing = await cut.run(['verify', 'ABCDE']);
    const checkup = await cut.run(['doctor']);
    await cut.remove();
    const failed = expect.objectContaining({ code: 2, stdout: '' });
    expect([portal, other, nothing]).toEqual([failed, failed, failed]);
    expect(checkup.code).toBe(2);
    for (const { stderr } of [portal, other])
      expect(stderr).toMatch(/^Error: The answer doesn’t come from Latchkey\.\n/);
    expect(nothing.stderr).toMatch(/^Error: The service can’t be reached: connect ECONNREFUSED/);
    expect(checkup.stdout).toContain('✗ network: The service can’t be reached: connect ECONNREFUSED');
    expect(portal.stderr + nothing.stderr + checkup.stdout).not.toContain(apiKey);
  });

  test('an unknown command, an unknown option and a missing argument exit with 2', async () => {
    const lines = [['nope'], ['licenses', 'nope'], ['verify', 'A', '--nope'], ['verify']];
    for (const args of lines) {
      const { code, stdout, stderr } = await cli.run(args);
      expect([args, code, stdout]).toEqual([args, 2, '']);
      expect(stderr).toMatch(
        /^Error: (There is no command (licenses )?nope|Unknown option|Usage: npm run latchkey -- verify)/,
      );
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
  const filters = ['--product', 'orrery', '--metadata', 'order=A=1', '--sort=-expires_at'];
  expect((await runJson('licenses', 'list', ...filters)).data).toMatchObject([{ id }]);
  expect((await runJson('licenses', 'list', '--metadata', 'order=A')).data).toEqual([]);
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

test('products apply says which product was refused, and which were applied before it', async () => {
  const file = join(cli.folder, 'refused.json');
  const products = [{ code: 'quadrant' }, { code: 'No code' }, { code: 'octant' }];
  await writeFile(file, JSON.stringify(products));
  const { code, stdout, stderr } = await cli.run(['products', 'apply', file]);
  expect([code, stdout]).toEqual([2, 'quadrant\tcreated\n']);
  expect(stderr).toContain('Error: The product No code wasn’t applied: ');
  expect(stderr).toContain('The products after it weren’t sent.');
});
