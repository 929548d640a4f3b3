import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import type * as Api from '../../../src/client/api.ts';
import { createAccount } from '../support/customer.ts';
import { clientOf } from '../support/service.ts';

const { origin } = inject('dashboard');
const { project } = inject('clientPackage');

const TSC = join(import.meta.dirname, '../../../node_modules/.bin/tsc');

/** What the package's types must accept and refuse. An expected error that doesn't come is an error, too. */
const CONSUMER = `
import { createLicense, type LicenseState } from '@latchkey/client';
import { machineFingerprint } from '@latchkey/client/node';
import { type components, createClient, manageUrl } from '@latchkey/client/api';
import { keys } from './keys.ts';

const api = createClient({ baseUrl: 'https://latchkey.example.com', apiKey: 'lk_live_' });
const id = 'lic_0';
const { data, error } = await api.GET('/api/v1/licenses/{id}', { params: { path: { id } } });
export const product: string | null | undefined = data?.product;
export const license: components['schemas']['License'] | undefined = data;
export const code: 'license_not_found' | string | undefined = error?.error.code;
await api.POST('/api/v1/licenses/create', { body: { customer_email: 'ada@example.com' } });
export const manage: string = await manageUrl(api, { license_id: id, return_url: 'https://example.com' });
// @ts-expect-error There is no such path.
await api.GET('/api/v1/license');
// @ts-expect-error The path needs an id.
await api.GET('/api/v1/licenses/{id}', {});
// @ts-expect-error A field has the wrong type.
await api.POST('/api/v1/licenses/create', { body: { duration_days: '30' } });
// @ts-expect-error A license has no such field.
export const nothing = data?.licence_key;

const app = createLicense({
  baseUrl: 'https://latchkey.example.com',
  apiKey: 'lk_live_',
  keys,
  fingerprint: machineFingerprint('orrery'),
});
export const state: LicenseState = await app.start();
`;

test('the package’s types reach its consumers, with every endpoint and the pinned keys', async () => {
  const keys = { account: 'acct_0', keys: [{ kty: 'OKP', crv: 'Ed25519', x: '', kid: '' }] };
  await writeFile(join(project, 'keys.ts'), `export const keys = ${JSON.stringify(keys)} as const;\n`);
  await writeFile(join(project, 'consumer.ts'), CONSUMER);
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions'];
  const platform = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', ''];
  const check = promisify(execFile)(TSC, [...options, ...platform, 'consumer.ts'], { cwd: project });
  const { stdout } = await check.catch(({ stdout }: { stdout: string }) => ({ stdout }));
  expect(stdout).toBe('');
});

test('the API client calls the service, returns its errors and never sends the key to a redirect', async () => {
  const customer = await createAccount(clientOf(origin), 'api');
  const { api_key: apiKey } = await customer.addKey();
  const path = join(project, 'node_modules/@latchkey/client/dist/api.js');
  const { createClient } = (await import(pathToFileURL(path).href)) as typeof Api;
  const api = createClient({ baseUrl: `${origin}/api/v1/`, apiKey });
  const customerFields = { customer_name: 'Grace', customer_company: 'Eckert–Mauchly' };
  const { data } = await api.POST('/api/v1/licenses/create', { body: customerFields });
  expect(data).toMatchObject({ ...customerFields, status: 'active' });
  const params = { path: { id: 'lic_none' } };
  const { error, response } = await api.GET('/api/v1/licenses/{id}', { params });
  expect([response.status, error?.error.code]).toEqual([404, 'license_not_found']);

  const sent: Request[] = [];
  const redirected = createClient({
    baseUrl: origin,
    apiKey,
    fetch: async (request) => {
      sent.push(request);
      return new Response(null, { status: 302, headers: { location: 'https://example.com' } });
    },
  });
  expect((await redirected.GET('/api/account')).data).toBeUndefined();
  expect(sent.map(({ redirect }) => redirect)).toEqual(['manual']);
});

test('“Manage license” gets a link to the portal, or the reason why there is none', async () => {
  const customer = await createAccount(clientOf(origin), 'manage');
  const { api_key: apiKey } = await customer.addKey();
  const path = join(project, 'node_modules/@latchkey/client/dist/api.js');
  const { createClient, manageUrl } = (await import(pathToFileURL(path).href)) as typeof Api;
  const api = createClient({ baseUrl: origin, apiKey });
  const { data: license } = await api.POST('/api/v1/licenses/create', { body: {} });
  const license_id = license?.id ?? '';
  await expect(manageUrl(api, { license_id })).rejects.toThrow('(portal_disabled)');
  const slug = `manage-${crypto.randomUUID().slice(0, 8)}`;
  await api.PUT('/api/portal', { body: { enabled: true, slug } });
  expect(await manageUrl(api, { license_id })).toMatch(new RegExp(`/portal/${slug}#token=lkl_\\w+$`));
});
