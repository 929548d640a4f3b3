// A seller's account, and applications that use the installed package to reach it through a proxy.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import type * as Core from '../../../../src/client/index.ts';
import type * as Node from '../../../../src/client/node.ts';
import { afterFile } from '../../support/after-file.ts';
import { createAccount } from '../../support/customer.ts';
import { clientOf } from '../../support/service.ts';
import { type Proxy, startProxy } from './proxy.ts';

const { origin } = inject('dashboard');
export const { project } = inject('clientPackage');

export const service = clientOf(origin);

/** Node loads modules in node_modules itself. Vitest would transform others, and resolve the package its own way. */
const ENTRIES = join(project, 'node_modules/entries.mjs');
writeFileSync(
  ENTRIES,
  "export * as core from '@latchkey/client';\nexport * as node from '@latchkey/client/node';\n",
);
const { core, node } = (await import(pathToFileURL(ENTRIES).href)) as {
  core: typeof Core;
  node: typeof Node;
};
export { node };

export const newSeller = async (terms: object = {}) => {
  const account = await createAccount(service, 'seller');
  const [{ api_key: apiKey }, { body: jwks }] = await Promise.all([
    account.addKey({ scope: 'verify' }),
    service.get(`/api/v1/jwks/${account.accountId}`),
    account.putProduct('orrery', { terms }),
  ]);
  const { keys } = jwks as { keys: Core.PinnedKeys['keys'] };
  return {
    ...account,
    apiKey,
    keys: { account: account.accountId, keys },
    sell: (input: object = {}) => account.addLicense({ product: 'orrery', ...input }),
    read: async (path: string) =>
      (await service.get(path, { authorization: `Bearer ${account.token}` })).body,
    change: (licenseId: string, transition: 'suspend' | 'reinstate') =>
      account.post(`/api/v1/licenses/${licenseId}/${transition}`),
  };
};

export type Seller = Awaited<ReturnType<typeof newSeller>>;

export const newProxy = async (): Promise<Proxy> => {
  const proxy = await startProxy(origin);
  afterFile(proxy.close);
  return proxy;
};

const memoryStore = () => {
  const store = {
    text: null as string | null,
    get: async () => store.text,
    set: async (text: string | null) => {
      store.text = text;
    },
  };
  return store;
};

/** A machine: what stays when the application on it restarts. */
export const newMachine = () => ({ store: memoryStore(), fingerprint: `machine-${randomUUID()}` });

export type Machine = ReturnType<typeof newMachine>;

/** Starts an application on a machine. It reaches the service through the proxy. */
export const newApplication = (
  { apiKey, keys }: Pick<Seller, 'apiKey' | 'keys'>,
  proxy: Pick<Proxy, 'origin'>,
  machine: Machine,
  options: Partial<Core.LicenseOptions> = {},
) => {
  const license = core.createLicense({
    baseUrl: proxy.origin,
    apiKey,
    keys,
    product: 'orrery',
    heartbeat: 'off',
    ...machine,
    ...options,
  });
  afterFile(() => license.stop());
  return license;
};
