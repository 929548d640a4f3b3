// Creates accounts through the API: with a paid plan, API keys, licenses and a webhook.
import { addKey, expectOk, signUp } from '../crash/customer.ts';
import type { Service } from '../e2e/support/service.ts';
import { type Values, sharedValues, valueAt } from './load/plan.ts';

export interface Account {
  accountId: string;
  session: { authorization: string };
  apiKeys: Values;
}

const CONCURRENCY = 8;

/** Calls `make` `times` times, with up to eight calls at a time. */
const repeated = async <T>(times: number, make: (index: number) => Promise<T>): Promise<T[]> => {
  const made: T[] = [];
  let started = 0;
  const lane = async () => {
    while (started < times) {
      const index = started++;
      made[index] = await make(index);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return made;
};

/** The plan allows 1,000 calls per second per API key and 5,000,000 per month. */
const payForScale = async (service: Service, { session }: Pick<Account, 'session'>) => {
  const { checkout_url } = expectOk(await service.post('/api/init-payment', { plan: 'scale' }, session)) as {
    checkout_url: string;
  };
  const { status } = await fetch(checkout_url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ outcome: 'paid' }),
  });
  if (status !== 303) throw new Error(`The checkout responded ${status}.`);
};

export const openAccount = async (
  service: Service,
  email: string,
  keys: number,
  fields: Parameters<typeof signUp>[2] = {},
): Promise<Account> => {
  const signedUp = await signUp(service, email, fields);
  await payForScale(service, signedUp);
  const made = await repeated(keys, () => addKey(service, signedUp));
  return { ...signedUp, apiKeys: sharedValues(made.map(({ apiKey }) => apiKey['x-api-key'])) };
};

/** Uses an API key, because the rate limit of sessions is too low. */
export const createLicenses = async (
  service: Service,
  { apiKeys }: Pick<Account, 'apiKeys'>,
  count: number,
): Promise<Values> =>
  sharedValues(
    await repeated(count, async (index) => {
      const license = { product: 'Orrery', customer_email: `customer-${index}@example.com` };
      const headers = { 'x-api-key': valueAt(apiKeys, 0) };
      const answer = await service.post('/api/v1/licenses/create', license, headers);
      return (expectOk(answer) as { license_key: string }).license_key;
    }),
  );

/** Uses an API key, because a session has to prove anew after ten minutes who holds it. */
export const subscribe = async (service: Service, { apiKeys }: Pick<Account, 'apiKeys'>, url: string) => {
  expectOk(await service.post('/api/webhooks', { url }, { 'x-api-key': valueAt(apiKeys, 0) }));
};
