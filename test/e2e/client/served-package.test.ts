import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { clientFile } from '../../../scripts/client-package.ts';
import { runCommand } from '../support/service.ts';
import { newSeller } from './support/application.ts';

// A teammate or a build server installs the client package from a running service, by its address.

const { origin } = inject('dashboard');
const ADDRESS = `${origin}/client/${clientFile()}`;

const run = async (folder: string, ...command: string[]) => {
  const { code, stdout, stderr } = await runCommand(folder, ...command);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
};

/** npm has a cache of its own, so that it asks the service. The registry's address is one at which nobody answers. */
const npm = (folder: string, ...args: string[]) =>
  run(
    folder,
    'env',
    `npm_config_cache=${join(folder, '.npm')}`,
    'npm_config_registry=http://127.0.0.1:9/',
    'npm_config_audit=false',
    'npm',
    ...args,
  );

const ENTRIES = {
  '@latchkey/client': ['createLicense'],
  '@latchkey/client/node': ['createLicense', 'fileStore', 'machineFingerprint'],
  '@latchkey/client/api': ['createClient', 'manageUrl'],
};
const NAMES = JSON.stringify(Object.keys(ENTRIES));
const FOUND = Object.fromEntries(Object.entries(ENTRIES).map(([name, names]) => [name, names.toSorted()]));

const ESM = `
const found = {};
for (const name of ${NAMES}) found[name] = Object.keys(await import(name)).sort();
console.log(JSON.stringify(found));
`;
const CJS = `
const found = {};
for (const name of ${NAMES}) found[name] = Object.keys(require(name)).sort();
console.log(JSON.stringify(found));
`;
/** Uses the network, the store, and Ed25519 as an application in CommonJS does. */
const CJS_LICENSE = `
const { createLicense } = require('@latchkey/client/node');
const { licenseKey, ...options } = JSON.parse(process.argv[2]);
const use = async () => {
  const license = createLicense({ ...options, product: 'orrery', dir: '.license', fingerprint: 'machine-0123456789' });
  console.log((await license.start()).code);
  console.log((await license.activate(licenseKey)).code);
  await license.stop();
};
use();
`;

test('the package installs from the service into an empty folder, and loads with import and with require', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-served-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await npm(folder, 'install', ADDRESS);
  await writeFile(join(folder, 'esm.mjs'), ESM);
  await writeFile(join(folder, 'cjs.cjs'), CJS);
  await writeFile(join(folder, 'license.cjs'), CJS_LICENSE);
  expect(JSON.parse(await run(folder, process.execPath, 'esm.mjs'))).toEqual(FOUND);
  // Node.js before 20.19 and 22.12 loads no ES module with `require`.
  const flags = ['--no-experimental-require-module'];
  expect(JSON.parse(await run(folder, process.execPath, ...flags, 'cjs.cjs'))).toEqual(FOUND);
  const { apiKey, keys, sell } = await newSeller({ max_activations: 1 });
  const { license_key: licenseKey } = await sell();
  const options = JSON.stringify({ baseUrl: origin, apiKey, keys, licenseKey });
  expect(await run(folder, process.execPath, ...flags, 'license.cjs', options)).toBe('key_missing\nvalid\n');

  // A build server installs what the lock file says.
  const lock = await readFile(join(folder, 'package-lock.json'), 'utf8');
  expect(lock).toContain(ADDRESS);
  expect(lock).toContain('sha512-');
  await rm(join(folder, 'node_modules'), { recursive: true });
  await npm(folder, 'ci');
  expect(JSON.parse(await run(folder, process.execPath, 'esm.mjs'))).toEqual(FOUND);
  expect(await run(folder, 'node_modules/.bin/latchkey', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('the files of the package are listed, are asked for again after a while, and others are unknown', async () => {
  const file = await fetch(ADDRESS);
  expect(file.status).toBe(200);
  // npm keeps what it has fetched. Until a version is released, its file can change.
  expect(file.headers.get('cache-control')).toMatch(/must-revalidate|no-cache/);
  expect(file.headers.get('x-content-type-options')).toBe('nosniff');
  await file.arrayBuffer();
  const list = await fetch(`${origin}/client/`);
  expect(list.headers.get('content-type')).toMatch(/^text\/html/);
  expect(await list.text()).toContain(`href="${clientFile()}"`);
  const unknown = await fetch(`${origin}/client/latchkey-client-0.0.1.tgz`);
  expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
});
