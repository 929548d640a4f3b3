import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { call, type Customer, type Json, outcomeOf, signUp } from '../support/client.ts';

// A seller with a shop of their own.

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let notifications = 0;

/** Sends a body as the shop does. */
export const notify = async (
  storeId: string,
  body: object | string,
  secret = SECRET,
  more: Record<string, string> = {},
) => {
  const text = typeof body === 'string' ? body : JSON.stringify({ id: `n${++notifications}`, ...body });
  const id = `msg_${++notifications}`;
  const at = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, text),
    ...more,
  };
  return call('POST', `/hooks/${storeId}`, { body: text, headers });
};

export interface Shop {
  ada: Customer;
  storeId: string;
  offer: (ref: string, fields: object) => Promise<Json>;
  notify: (body: object | string) => Promise<void>;
  licenses: () => Promise<Json[]>;
  purchases: (query?: string) => Promise<Json[]>;
}

/** A seller with a store and the product `mill`. */
export const openShop = async (fields: object = {}, seller?: Customer): Promise<Shop> => {
  const ada = seller ?? (await signUp());
  await ada.asSession('PUT', '/api/v1/products/mill', { terms: { max_activations: 2 } });
  const store = { provider: 'generic', name: 'Shop', secret: SECRET, ...fields };
  const created = await ada.asSession('POST', '/api/stores', store);
  expect(outcomeOf(created)).toBe('201 ok');
  const storeId: string = created.body.id;
  return {
    ada,
    storeId,
    offer: async (ref, offer) => {
      const path = `/api/stores/${storeId}/offers/${encodeURIComponent(ref)}`;
      const { status, body } = await ada.asSession('PUT', path, { product: 'mill', ...offer });
      expect([200, 201]).toContain(status);
      return body;
    },
    notify: async (body) => {
      expect(outcomeOf(await notify(storeId, body))).toBe('200 ok');
    },
    licenses: async () =>
      (await ada.asSession('GET', '/api/v1/licenses?sort=created_at&limit=100')).body.data,
    purchases: async (query = '') => (await ada.asSession('GET', `/api/purchases${query}`)).body.data,
  };
};

export const paid = (order: string, fields: object = {}) => ({
  type: 'paid',
  order,
  offer: 'pro',
  email: 'grace@example.com',
  ...fields,
});
