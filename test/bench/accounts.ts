// Accounts as customers make them: registered, paid for in the sandbox, with keys, licenses and a webhook endpoint.
import { addKey, expectOk, signUp } from '../crash/customer.ts';
import type { Service } from '../e2e/support/service.ts';
import { type Values, sharedValues } from './load/plan.ts';

export interface Account {
  accountId: string;
  session: { authorization: string };
  apiKeys: Values;
}

const AT_ONCE = 8;

/** So many of the same, a few of them under way at a time. */
export const repeated = async <T>(times: number, make: (index: number) => Promise<T>): Promise<T[]> => {
  const made: T[] = [];
  let begun = 0;
  const lane = async () => {
    while (begun < times) {
      const index = begun++;
      made[index] = await make(index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return made;
};

/** 1,000 calls a second for each key and 5,000,000 a month. */
const payForScale = async (service: Service, { session }: Pick<Account, 'session'>) => {
  const { checkout_url } = expectOk(await service.post('/api/init-payment', { plan: 'scale' }, session)) as {
    checkout_url: string;
  };
  const { status } = await fetch(checkout_url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ outcome: 'paid' }),
  });
  if (status !== 303) throw new Error(`The checkout answered ${status}.`);
};

export const openAccount = async (service: Service, email: string, keys: number): Promise<Account> => {
  const signedUp = await signUp(service, email);
  await payForScale(service, signedUp);
  const made = await repeated(keys, () => addKey(service, signedUp));
  return { ...signedUp, apiKeys: sharedValues(made.map(({ apiKey }) => apiKey['x-api-key'])) };
};

export const createLicenses = async (
  service: Service,
  { session }: Pick<Account, 'session'>,
  count: number,
): Promise<Values> =>
  sharedValues(
    await repeated(count, async (index) => {
      const license = { product: 'Orrery', customer_email: `customer-${index}@example.com` };
      const answer = await service.post('/api/v1/licenses/create', license, session);
      return (expectOk(answer) as { license_key: string }).license_key;
    }),
  );

export const subscribe = async (service: Service, { session }: Pick<Account, 'session'>, url: string) => {
  expectOk(await service.post('/api/webhooks', { url }, session));
};
