import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { newProxy, newSeller, type Seller, service } from './support/application.ts';
import { copyExample, type Env, runExample, WITHOUT_ID } from './support/examples.ts';
import { cut, pass } from './support/proxy.ts';

// The examples run as they are in the repository, with a configuration and the installed package.

let seller: Seller;
beforeAll(async () => {
  seller = await newSeller({ max_activations: 1, self_service: true, entitlements: { export: true } });
});

/** The environment of a machine that runs an example. */
const machineEnv = (folder: string, name = 'laptop'): Env => ({
  ORRERY_HOME: join(folder, `home-${name}`),
  ...WITHOUT_ID,
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
      stderr: expect.stringMatching(/^Licensed\. Works without .* has no id of its own/),
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

describe('the id of a machine', () => {
  /** Gives the process a machine with an id of its own, which isn't a container. */
  const WITH_ID = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { readFileSync } = fs;
    fs.existsSync = () => false;
    fs.readFileSync = (path, ...rest) =>
      path === '/etc/machine-id'
        ? '0123456789abcdef0123456789abcdef'
        : String(path).startsWith('/proc/') ? '' : readFileSync(path, ...rest);
    Object.defineProperty(process, 'platform', { value: 'linux' });
    delete process.env.KUBERNETES_SERVICE_HOST;
    syncBuiltinESMExports();
  `;
  const activateWith = async (floating: boolean, args: string[] = []) => {
    const folder = await copyExample('cli-tool', seller);
    await writeFile(join(folder, 'with-id.mjs'), WITH_ID);
    const { id, license_key: licenseKey } = await seller.sell(
      floating ? { terms: { lease_seconds: 3_600 } } : {},
    );
    const env = { ...machineEnv(folder), ORRERY_MACHINE_ID: 'the-same-everywhere' };
    const run = (...words: string[]) => runExample(folder, [...args, 'orrery.js', ...words], env);
    const { code, stderr } = await run('activate', licenseKey);
    const exported = await run('export');
    const { seats } = (await seller.read(`/api/v1/licenses/${id}/activations`)) as {
      seats: { used: number };
    };
    return { code, stderr, exported: exported.code, used: seats.used };
  };

  test('can be passed where there is none, for a license with a lease', async () => {
    expect(await activateWith(true)).toEqual({
      code: 0,
      stderr: expect.stringMatching(/is known by ORRERY_MACHINE_ID/),
      exported: 0,
      used: 1,
    });
  });

  test('can’t be passed without a lease, and holds no seat then', async () => {
    expect(await activateWith(false)).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^ORRERY_MACHINE_ID needs a floating license/),
      exported: 1,
      used: 0,
    });
  });

  test('that a user passes doesn’t replace the one of the system', async () => {
    expect(await activateWith(true, ['--import', './with-id.mjs'])).toEqual({
      code: 0,
      stderr: expect.stringMatching(/is known by the id of its system/),
      exported: 0,
      used: 1,
    });
  });
});

describe('offline-file', () => {
  /** Machines without a network, and the seller who issues files for them. */
  const openExample = async () => {
    const proxy = await newProxy();
    proxy.behavior = cut;
    const folder = await copyExample('offline-file', seller, proxy.origin);
    const orrery = (machine: string, ...args: string[]) =>
      runExample(folder, ['orrery.js', ...args], {
        ...machineEnv(folder, machine),
        ORRERY_MACHINE_ID: `machine-${machine}-0123456789`,
      });
    const { api_key: fullKey } = await seller.addKey();
    const env = { LATCHKEY_URL: service.origin, LATCHKEY_API_KEY: fullKey };
    const issue = (request: string, ...args: string[]) =>
      runExample(folder, ['issue.js', ...args], env, request);
    return { proxy, folder, orrery, issue };
  };

  test('carries a license to a machine without a network', async () => {
    const { proxy, folder, orrery, issue } = await openExample();
    const { id: licenseId } = await seller.sell();

    expect(await orrery('cave')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Not licensed/) });
    const request = await orrery('cave', 'request');
    const issued = await issue(request.stdout, licenseId, '180');
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
    const again = await issue('{"fingerprint":"machine-other-01"}', licenseId);
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/seat/i) });
  });

  test('takes the file of another license in place of one that is still good', async () => {
    const { folder, orrery, issue } = await openExample();
    const request = await orrery('cave', 'request');
    const loadFor = async (days: string) => {
      const { id } = await seller.sell();
      const { stdout: file } = await issue(request.stdout, id, days);
      await writeFile(join(folder, 'license.txt'), file);
      return orrery('cave', 'load', 'license.txt');
    };
    const first = await loadFor('180');
    const second = await loadFor('360');
    for (const loaded of [first, second])
      expect(loaded).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Licensed until 20/) });
    expect(second.stdout).not.toBe(first.stdout);
    expect((await orrery('cave')).stdout).toBe(second.stdout);
  });
});
