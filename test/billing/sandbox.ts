import { exports } from 'cloudflare:workers';
import type { Customer, Json } from '../support/client.ts';

export { booksOf } from '../support/stripe.ts';

/** Begins to pay for a plan, `pro` unless told. By API key: a session does not live for months. */
export const begin = async (customer: Customer, fields: Record<string, unknown> = {}): Promise<Json> => {
  const { status, body } = await customer.asKey('POST', '/api/init-payment', { plan: 'pro', ...fields });
  if (status !== 201) throw new Error(`init-payment answered ${JSON.stringify(body)}`);
  return body;
};

/** Presses a button of the checkout page. */
export const press = async (checkoutUrl: string, outcome: string) => {
  const response = await exports.default.fetch(
    new Request(checkoutUrl, { method: 'POST', body: new URLSearchParams({ outcome }), redirect: 'manual' }),
  );
  return { status: response.status, location: response.headers.get('location'), page: await response.text() };
};

export const subscribe = async (customer: Customer, plan = 'pro') => {
  const { status } = await press((await begin(customer, { plan })).checkout_url, 'paid');
  if (status !== 303) throw new Error(`Paying was answered ${status}.`);
};
