import { exports } from 'cloudflare:workers';
import type { Customer, Json } from '../support/client.ts';

export { billingRowsOf } from '../support/stripe.ts';

/** Starts a checkout. Uses the API key because some tests outlive a session. */
export const begin = async (customer: Customer, fields: Record<string, unknown> = {}): Promise<Json> => {
  const { status, body } = await customer.asKey('POST', '/api/init-payment', { plan: 'pro', ...fields });
  if (status !== 201) throw new Error(`init-payment answered ${JSON.stringify(body)}`);
  return body;
};

/** Submits the checkout page with this outcome. */
export const press = async (checkoutUrl: string, outcome: string) => {
  const response = await exports.default.fetch(
    new Request(checkoutUrl, { method: 'POST', body: new URLSearchParams({ outcome }), redirect: 'manual' }),
  );
  return { status: response.status, location: response.headers.get('location'), page: await response.text() };
};

/** Starts a checkout and pays it. */
export const subscribe = async (customer: Customer, plan = 'pro') => {
  const { status } = await press((await begin(customer, { plan })).checkout_url, 'paid');
  if (status !== 303) throw new Error(`The checkout page answered ${status}.`);
};
