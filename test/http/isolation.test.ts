import { expect, test } from 'vitest';
import { subscribe } from '../billing/sandbox.ts';
import { openShop, paid } from '../stores/shop.ts';
import { type Customer, signUp } from '../support/client.ts';
import { addWebhook, callRoutes, kindsIn, nameOf, routesWithId } from './security.ts';

/** A store with an offer, and a purchase in it. */
const sell = async (ada: Customer) => {
  const shop = await openShop({}, ada);
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  const [purchase] = await shop.purchases();
  return { shop, purchase };
};

test('every route answers 404 for another account’s ids', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const license = await ada.createLicense({ product: 'Orrery' });
  const { webhook, ids: hook } = await addWebhook(ada);
  // A call for each route is more than an API key's burst on the free plan.
  await subscribe(bob, 'scale');
  await ada.asSession('PUT', '/api/v1/products/orrery', {});
  const activate = { license_key: license.license_key, fingerprint: 'machine-0001' };
  const { activation } = (await ada.asKey('POST', '/api/v1/licenses/activate', activate)).body;
  const { shop, purchase } = await sell(ada);
  const ids: Record<string, string> = {
    licenses: license.id,
    activations: activation.id,
    products: 'orrery',
    'api-keys': ada.apiKeyId,
    sessions: (await ada.asSession('GET', '/api/sessions')).body.data[0].id,
    stores: shop.storeId,
    offers: 'pro',
    purchases: purchase.id,
    ...hook,
  };
  expect(Object.keys(ids)).toEqual(expect.arrayContaining(routesWithId.flatMap(kindsIn)));

  for (const headers of [{ authorization: `Bearer ${bob.token}` }, { 'x-api-key': bob.apiKey }]) {
    // Every account chooses its own product codes, so bob may create a product with ada's code.
    const chosen = routesWithId.filter((route) => nameOf(route) !== 'PUT /api/v1/products/:code');
    const refusals = Object.values(await callRoutes(chosen, headers, ids));
    expect(new Set(refusals)).toEqual(
      new Set([
        '404 api_key_not_found',
        '404 license_not_found',
        '404 not_found',
        '404 product_not_found',
        '404 webhook_not_found',
      ]),
    );
  }
  const unchanged = await ada.asKey('GET', `/api/v1/licenses/${license.id}`);
  expect(unchanged.body).toEqual(license);
  expect((await bob.verify(license.license_key)).body.status).toBe('not_found');
  expect((await bob.asSession('GET', '/api/v1/licenses')).body.data).toEqual([]);
  expect((await ada.asSession('GET', '/api/sessions')).body.data).toHaveLength(1);
  expect((await ada.asSession('GET', `/api/webhooks/${webhook.id}`)).body).toEqual(webhook);
  expect((await bob.asSession('GET', '/api/webhooks')).body.data).toEqual([]);
  // A delivery is found only under its own webhook.
  const { ids: bobsIds } = await addWebhook(bob);
  const foreignDelivery = `/api/webhooks/${bobsIds.webhooks}/deliveries/${hook.deliveries}/resend`;
  expect((await bob.asSession('POST', foreignDelivery)).body.error.code).toBe('not_found');
});
