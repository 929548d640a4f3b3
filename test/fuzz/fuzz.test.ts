import * as fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { documentedRoutes } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import { subscribe } from '../billing/sandbox.ts';
import { openShop, paid } from '../stores/shop.ts';
import { call, type Customer, type Json, signUp } from '../support/client.ts';
import { undocumented } from '../support/openapi.ts';
import { newReceiver } from '../support/receiver.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { fuzzedRequest, type Resources, type Route, send } from './requests.ts';
import { createWebhooks, expectOnlyLocalWebhooks } from './webhooks.ts';

const SEED = 20_261_120;
/** Requests per route. `runs.ts` says how to change the number. */
const RUNS = inject('fuzzRuns');
/** For routes that read nothing but the caller's credentials. */
const RUNS_WITHOUT_INPUT = Math.ceil(RUNS / 3);
/** For routes that hash a password when the body is valid. */
const RUNS_WITH_HASHING = Math.ceil(RUNS / 5);
const HASHING = new Set(['register', 'login', 'reauthenticate']);
/** Enough API keys that a deleted one rarely comes up. */
const KEYS = 4;

const ROUTES = documentedRoutes(app);

const isAboutWebhooks = ({ path }: Route) => path.startsWith('/api/webhooks');
const isAboutKeys = ({ path }: Route) => path.includes('api-key');
const isAboutStores = ({ path }: Route) => /^\/api\/(?:stores|purchases)/.test(path);
const isAboutSessions = ({ path }: Route) => path.startsWith('/api/sessions');
/** Those of billing and of people have nothing to do with what the account sells. */
const isAboutLicenses = ({ path }: Route) => /^\/api\/(?:v1|export|dashboard|erase)/.test(path);

const repeat = <T>(count: number, create: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, create));

/** Creates licenses with activations, and returns the ids of both. */
const createLicenses = async (customer: Customer, isSuspended: boolean): Promise<string[]> => {
  // Half of them have no limit of seats.
  const labeled = await repeat(2, () => customer.createLicense({ product: 'Orrery' }));
  await customer.asSession('PUT', '/api/v1/products/prd_orrery', { terms: { max_activations: 1 } });
  await customer.asSession('PUT', '/api/v1/products/prd_unused', {});
  const seated = await repeat(2, () => customer.createLicense({ product: 'prd_orrery' }));
  const licenses = [...seated, ...labeled];
  const activations = await Promise.all(
    licenses.map(async ({ license_key }): Promise<Json> => {
      const sent = { license_key, fingerprint: 'machine-0001' };
      return (await customer.asKey('POST', '/api/v1/licenses/activate', sent)).body.activation;
    }),
  );
  if (isSuspended)
    await Promise.all(licenses.map(({ id }) => customer.asSession('POST', `/api/v1/licenses/${id}/suspend`)));
  return [...licenses, ...activations].map(({ id }): string => id);
};

/** Logs in again, and returns the id of that session: to end the one of the fuzzed calls would leave nothing to test. */
const createSession = async (customer: Customer): Promise<string[]> => {
  await call('POST', '/api/login', { body: { email: customer.email, password: customer.password } });
  const { body } = await customer.asSession('GET', '/api/sessions');
  return (body.data as Json[]).filter(({ current }) => !current).map(({ id }): string => id);
};

const STORE_IDS = ['sto_none', 'pur_none', 'ref_none'];

/** Creates a store, an offer, and a purchase that it makes a license for, and some for which there is no offer. */
const createPurchases = async (customer: Customer): Promise<string[]> => {
  const shop = await openShop({}, customer);
  for (const code of ['prd_orrery', 'prd_unused'])
    await customer.asSession('PUT', `/api/v1/products/${code}`, {});
  await shop.offer('ref_pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { offer: 'ref_pro' }));
  for (const order of ['2', '3', '4']) await shop.notify(paid(order));
  const purchases = await shop.purchases();
  return [shop.storeId, 'ref_pro', ...purchases.map(({ id }): string => id)];
};

/** Creates what a route like this is about. */
const createResources = async (customer: Customer, route: Route): Promise<Resources> => {
  const createKey = async (): Promise<Json> =>
    (await customer.asSession('POST', '/api/create-api-key', {})).body;
  const keys = isAboutKeys(route) ? await repeat(KEYS, createKey) : [];
  const keysToDelete = isAboutKeys(route) ? await repeat(8, createKey) : [];
  const isSuspended = route.operation.id === 'reinstateLicense';
  const { url } = await newReceiver();
  const ids = [
    ...keysToDelete.map(({ id }): string => id),
    ...(isAboutLicenses(route) ? await createLicenses(customer, isSuspended) : []),
    ...(isAboutWebhooks(route) ? await createWebhooks(customer, url) : []),
    ...(isAboutSessions(route) ? await createSession(customer) : []),
    ...(isAboutStores(route) ? await createPurchases(customer) : []),
  ];
  const none = ['act_none', 'key_none', 'lic_none', 'whe_none', 'dlv_none', 'ses_none', ...STORE_IDS];
  return {
    keys: [customer.apiKey, ...keys.map(({ api_key: key }): string => key)],
    ids: [...ids, customer.accountId, 'prd_orrery', 'prd_unused', ...none],
    url,
  };
};

/** Succeed only with a token from an email, a code, the current password, lines instead of JSON, or a portal that is on. */
const NEEDS_PROOF = new Set([
  'resetPassword',
  'verifyEmail',
  'restoreEmail',
  'loginTwoFactor',
  'reauthenticate',
  'confirmTwoFactor',
  'disableTwoFactor',
  'replaceRecoveryCodes',
  'changePassword',
  'changeEmail',
  'eraseAccount',
  'importLicenses',
  'createPortalSession',
]);

const runsOf = ({ path, operation }: Route) => {
  const { body, file, query, isRepeatable } = operation;
  if (HASHING.has(operation.id)) return RUNS_WITH_HASHING;
  return body || file || query || isRepeatable || path.includes(':') ? RUNS : RUNS_WITHOUT_INPUT;
};

test.for(ROUTES.map((route) => [route.method, route.path, route] as const))(
  '%s %s answers every fuzzed request as documented',
  async ([, , route]) => {
    // Each route has its own account, so that no route uses up the rate limits of another.
    const customer = await signUp();
    await subscribe(customer, 'scale');
    if (route.operation.id === 'resumeSubscription')
      await customer.asSession('POST', '/api/cancel-subscription', {});
    if (route.operation.id === 'testProductMail') await verifyAddress(customer.accountId);
    const resources = await createResources(customer, route);
    const arbitrary = fuzzedRequest(route, resources, customer);
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(arbitrary, async (request) => {
        const answer = await send(route, request);
        statuses.add(answer.status);
        expect({
          undocumented: undocumented(route.method, request.path, answer),
          failure: answer.status >= 500 ? answer.body : null,
        }).toEqual({ undocumented: [], failure: null });
      }),
      { seed: SEED, numRuns: runsOf(route) },
    );
    // Some requests succeed, except at routes that require a provider's signature or another proof.
    const needsProof = route.path.startsWith('/api/billing/') || NEEDS_PROOF.has(route.operation.id);
    expect(needsProof || [...statuses].some((status) => status < 300)).toBe(true);
    if (isAboutWebhooks(route)) await expectOnlyLocalWebhooks(customer);
  },
);
