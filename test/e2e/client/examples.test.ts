import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { newProxy, newSeller, type Seller, service } from './support/application.ts';
import { copyExample, type Env, EXAMPLES, runExample, startExample } from './support/examples.ts';
import { cut, pass, respond } from './support/proxy.ts';

// The examples run as they are in the repository, with a configuration and the installed package.

let seller: Seller;
beforeAll(async () => {
  seller = await newSeller({ max_activations: 1, self_service: true, entitlements: { export: true } });
});

/** The environment of a machine that runs an example. */
const machineEnv = (folder: string, name = 'laptop'): Env => ({
  ORRERY_HOME: join(folder, `home-${name}`),
  ORRERY_MACHINE_ID: `machine-${name}-0123456789`,
});

describe('cli-tool', () => {
  test('exports once it is activated, also without a network, until it is deactivated', async () => {
    const proxy = await newProxy();
    const folder = await copyExample('cli-tool', seller, proxy.origin);
    const orrery = (...args: string[]) => runExample(folder, ['orrery.js', ...args], machineEnv(folder));
    const { license_key: licenseKey } = await seller.sell();

    // As the setup in the examples' README says.
    const { api_key: fullKey } = await seller.addKey();
    await writeFile(join(folder, 'latchkey-keys.json'), '');
    const latchkey = join(folder, 'node_modules/@latchkey/client/dist/cli.js');
    const pulled = await runExample(folder, [latchkey, 'keys', 'pull', '--out', 'latchkey-keys.json'], {
      LATCHKEY_URL: service.origin,
      LATCHKEY_API_KEY: fullKey,
    });
    expect(pulled, pulled.stderr).toMatchObject({ code: 0 });

    expect(await orrery()).toMatchObject({ code: 0, stdout: expect.stringMatching(/Saturn/), stderr: '' });
    expect(await orrery('export')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/No license yet/),
    });
    expect(await orrery('activate', licenseKey)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Licensed\. Works without/),
    });

    proxy.behavior = cut;
    expect(await orrery('export')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^position,planet\n1,Mercury/),
      stderr: '',
    });
    proxy.behavior = pass;
    expect(await orrery('deactivate')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/The seat is free/),
    });
    expect((await orrery('export')).code).toBe(1);
  });

  test('lists the machines that hold the seats, and replaces one', async () => {
    const folder = await copyExample('cli-tool', seller);
    const { license_key: licenseKey } = await seller.sell();
    const activateOn = (machine: string, ...args: string[]) =>
      runExample(folder, ['orrery.js', 'activate', licenseKey, ...args], machineEnv(folder, machine));

    expect((await activateOn('laptop')).code).toBe(0);
    const { code, stderr } = await activateOn('studio');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^All 1 seats are taken\.\n {2}act_\w+ /)]);
    const [id = ''] = /act_\w+/.exec(stderr) ?? [];
    expect((await activateOn('studio', '--replace', id)).code).toBe(0);
  });
});

describe('api-server', () => {
  test('answers a customer from its cache, and for a while without the service', async () => {
    const proxy = await newProxy();
    const folder = await copyExample('api-server');
    const env = { LATCHKEY_URL: proxy.origin, LATCHKEY_API_KEY: seller.apiKey, PORT: '0' };
    const url = await startExample(folder, ['server.js'], env);
    const { license_key: licenseKey } = await seller.sell({ product: 'api' });
    const call = async (token: string) =>
      (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;

    expect((await fetch(url)).status).toBe(401);
    expect(await Promise.all([call(licenseKey), call(licenseKey), call(licenseKey)])).toEqual([
      200, 200, 200,
    ]);
    expect(await call('NOT-A-LICENSE')).toBe(403);
    expect(proxy.paths).toEqual(['licenses/verify', 'licenses/verify']);
    proxy.behavior = cut;
    expect(await call(licenseKey)).toBe(200);
    expect(await call('ANOTHER-LICENSE')).toBe(503);
  });

  test('asks again after a minute, and trusts a valid license for an hour if there is no answer', async () => {
    const proxy = await newProxy();
    const folder = await copyExample('api-server');
    const { createVerifier } = (await import(join(folder, 'verifier.js'))) as {
      createVerifier: (options: object) => (licenseKey: string) => Promise<{ valid: boolean } | null>;
    };
    const { id, license_key: licenseKey } = await seller.sell({ product: 'api' });
    let nowMs = 0;
    const verify = createVerifier({ baseUrl: proxy.origin, apiKey: seller.apiKey, now: () => nowMs });
    const isValidAt = async (seconds: number) => {
      nowMs = seconds * 1_000;
      return (await verify(licenseKey))?.valid ?? null;
    };

    expect(await isValidAt(0)).toBe(true);
    await seller.change(id, 'suspend');
    expect(await isValidAt(59)).toBe(true);
    proxy.behavior = respond(500);
    expect([await isValidAt(60), await isValidAt(3_599), await isValidAt(3_600)]).toEqual([true, true, null]);
    proxy.behavior = pass;
    expect(await isValidAt(3_601)).toBe(false);
    proxy.behavior = cut;
    expect([await isValidAt(3_660), await isValidAt(3_661)]).toEqual([false, null]);
  });
});

describe('offline-file', () => {
  test('carries a license to a machine without a network', async () => {
    const proxy = await newProxy();
    proxy.behavior = cut;
    const folder = await copyExample('offline-file', seller, proxy.origin);
    const orrery = (machine: string, ...args: string[]) =>
      runExample(folder, ['orrery.js', ...args], machineEnv(folder, machine));
    const { id: licenseId } = await seller.sell();
    const { api_key: fullKey } = await seller.addKey();

    expect(await orrery('cave')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Not licensed/) });
    const request = await orrery('cave', 'request');
    const env = { LATCHKEY_URL: service.origin, LATCHKEY_API_KEY: fullKey };
    const issued = await runExample(folder, ['issue.js', licenseId, '180'], env, request.stdout);
    expect(issued).toMatchObject({ code: 0, stderr: '' });
    await writeFile(join(folder, 'license.txt'), issued.stdout);

    expect(await orrery('cave', 'load', 'license.txt')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Licensed until 20/),
    });
    expect(await orrery('cave')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Licensed until 20/),
    });
    expect(await orrery('other', 'load', 'license.txt')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Not licensed/),
    });
    expect(proxy.paths.filter((path) => path === 'licenses/activate')).toEqual([]);

    // The seat is taken.
    const again = await runExample(
      folder,
      ['issue.js', licenseId],
      env,
      '{"fingerprint":"machine-other-01"}',
    );
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/seat/i) });
  });
});

/** The commands that run the test vectors of an example. The first that works is used. */
const LANGUAGES = [
  // The Python that is first in PATH may be another than the system's, for which Debian has PyJWT.
  {
    name: 'python',
    commands: ['python3', '/usr/bin/python3'],
    probe: ['-c', 'import jwt, cryptography'],
    run: ['-B', '-m', 'unittest'],
    needs: 'python3 with PyJWT and cryptography',
  },
  { name: 'go', commands: ['go'], probe: ['version'], run: ['test', './...'], needs: 'go' },
];

test.for(LANGUAGES)('$name accepts the good test vectors and rejects the others', (language, { skip }) => {
  const { name, commands, probe, run, needs } = language;
  const command = commands.find((candidate) => spawnSync(candidate, probe).status === 0);
  skip(command === undefined, `${needs} is not installed`);
  const options = { cwd: join(EXAMPLES, name), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(command ?? '', run, options);
  expect(status, stdout + stderr).toBe(0);
});
