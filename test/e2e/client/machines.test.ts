import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  newApplication,
  newMachine,
  newProxy,
  newSeller,
  node,
  project,
  type Seller,
} from './support/application.ts';
import { cut, type Proxy, unavailable } from './support/proxy.ts';

let seller: Seller;
beforeAll(async () => {
  seller = await newSeller({ max_activations: 1, self_service: true });
});

describe('a license for one machine', () => {
  test('is free for another machine once the first has deactivated', async () => {
    const proxy = await newProxy();
    const { license_key: licenseKey } = await seller.sell();
    const [first, second] = [newMachine(), newMachine()];
    const laptop = newApplication(seller, proxy, first);
    const studio = newApplication(seller, proxy, second);

    expect(await laptop.activate(licenseKey, { name: 'Laptop' })).toMatchObject({ valid: true });
    expect(await studio.activate(licenseKey, { name: 'Studio' })).toMatchObject({ code: 'no_seat' });
    expect(await laptop.deactivate()).toMatchObject({ valid: false, code: 'deactivated' });
    expect(await studio.activate(licenseKey, { name: 'Studio' })).toMatchObject({
      valid: true,
      seats: { used: 1, limit: 1 },
      activation: { name: 'Studio' },
    });
    // The machine that gave its seat back doesn't start from a stored token.
    proxy.behavior = cut;
    expect((await newApplication(seller, proxy, first).start()).valid).toBe(false);
    expect((await newApplication(seller, proxy, second).start()).valid).toBe(true);
  });

  test('moves to a second machine that replaces the first, which then stops', async () => {
    const proxy = await newProxy();
    const { license_key: licenseKey } = await seller.sell();
    const laptop = newApplication(seller, proxy, newMachine());
    const studio = newApplication(seller, proxy, newMachine());
    await laptop.activate(licenseKey, { name: 'Laptop' });

    const refused = await studio.activate(licenseKey, { name: 'Studio' });
    expect(refused).toMatchObject({ valid: false, code: 'no_seat', seats: { used: 1, limit: 1 } });
    expect(refused.machines).toEqual([
      {
        id: laptop.state.activation?.id,
        name: 'Laptop',
        platform: null,
        lastSeenAt: expect.any(Date),
      },
    ]);

    const replace = refused.machines?.[0]?.id;
    expect(await studio.activate(licenseKey, { name: 'Studio', replace })).toMatchObject({ valid: true });
    expect(await laptop.refresh()).toMatchObject({ valid: false, code: 'not_activated' });
  });
});

/** Runs a script in the project in which the package is installed. */
const runScript = async (script: string, args: object) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(args)], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = await once(child, 'close');
  expect(code, output).toBe(0);
  return JSON.parse(output) as unknown;
};

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

describe('a store on disk', () => {
  const SCRIPT = `
    import { createLicense } from '@latchkey/client/node';
    const { licenseKey, ...options } = JSON.parse(process.argv[1]);
    const license = createLicense({ ...options, heartbeat: 'off' });
    await license.start();
    const codes = [(await license.activate(licenseKey)).code];
    for (let round = 0; round < 3; round += 1) codes.push((await license.refresh()).code);
    await license.stop();
    console.log(JSON.stringify(codes));
  `;
  const optionsFor = (proxy: Proxy, dir: string) => ({
    baseUrl: proxy.origin,
    apiKey: seller.apiKey,
    keys: seller.keys,
    product: 'orrery',
    fingerprint: 'machine-0123456789',
    dir,
  });

  test('is shared by two processes without harm, and only its user can read it', async () => {
    const proxy = await newProxy();
    const dir = join(await newFolder(), 'settings/orrery');
    const { license_key: licenseKey } = await seller.sell();
    const input = { ...optionsFor(proxy, dir), licenseKey };
    const codes = await Promise.all([runScript(SCRIPT, input), runScript(SCRIPT, input)]);
    expect(codes).toEqual(Array(2).fill(Array(4).fill('valid')));

    const files = await readdir(dir);
    expect(files).toHaveLength(1);
    const path = join(dir, files[0] ?? '');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    proxy.behavior = cut;
    const restarted = node.createLicense(optionsFor(proxy, dir));
    onTestFinished(async () => void (await restarted.stop()));
    expect(await restarted.start()).toMatchObject({ valid: true, source: 'stored' });
  });

  test.for([
    ['half a file', (text: string) => text.slice(0, text.length / 2)],
    ['an empty file', () => ''],
    ['a file of something else', () => '[{"token":1}]'],
    ['a file that was copied from another machine', (text: string) => text],
  ] as const)('that is %s is no token and no crash', async ([name, damage]) => {
    const proxy = await newProxy();
    const dir = await newFolder();
    const { license_key: licenseKey } = await seller.sell();
    const application = node.createLicense(optionsFor(proxy, dir));
    onTestFinished(async () => void (await application.stop()));
    expect((await application.activate(licenseKey)).valid).toBe(true);
    await application.stop();

    const [file = ''] = await readdir(dir);
    await writeFile(join(dir, file), damage(await readFile(join(dir, file), 'utf8')));
    proxy.behavior = unavailable;
    const fingerprint = name.includes('copied') ? 'machine-9876543210' : 'machine-0123456789';
    const restarted = node.createLicense({ ...optionsFor(proxy, dir), fingerprint });
    onTestFinished(async () => void (await restarted.stop()));
    expect((await restarted.start()).valid).toBe(false);
    expect((await restarted.activate(licenseKey)).code).toBe('inconclusive');
  });
});
