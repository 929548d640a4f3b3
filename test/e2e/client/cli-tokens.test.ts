import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cli, createCli } from './support/run-cli.ts';
import { createSeller, type Seller } from './support/seller.ts';

let origin: string;
let customer: Seller['customer'];
let apiKey: string;
let cli: Cli;
let runJson: Seller['runJson'];
let createLicense: Seller['createLicense'];

beforeAll(async () => {
  ({ origin, customer, apiKey, cli, runJson, createLicense } = await createSeller());
});

afterAll(async () => {
  await cli.remove();
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
  test('checks the configuration, network, service, clock, key and signing keys', async () => {
    await runJson('keys', 'pull', '--out', 'pinned.json');
    const { stdout } = await cli.run(['doctor', '--keys', 'pinned.json', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { check: string; result: string }[] };
    const results = Object.fromEntries(checks.map(({ check, result }) => [check, result]));
    expect(results).toMatchObject({
      configuration: 'ok',
      network: 'ok',
      service: 'ok',
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
    expect(stdout).toContain('keys pull --out FILE`');
  });
});
