import { notify, openShop, paid } from '../../stores/shop.ts';
import { verifyAddress } from '../../support/sign-in.ts';
import type { Area } from '../area.ts';

const OFFER = { product: 'mill', grant: 'perpetual' };
const FULL_OFFER = {
  product: 'mill',
  grant: 'subscription',
  quantity: 'seats',
  terms: { offline_days: 3 },
  grace_days: 3,
  on_refund: 'suspend',
  on_dispute: 'nothing',
  mail: false,
};

const MAIL = { from_name: 'Mill', intro: 'Open the mill.', support_url: 'https://example.com/help' };

/** For an account with a store that has an offer. */
export const STORES: Area = {
  setUp: async (ada) => {
    const shop = await openShop({}, ada);
    await shop.offer('price_1', { grant: 'perpetual' });
    return { store: shop.storeId };
  },
  calls: {
    'GET /api/v1/products/mill/mail': [{ when: 'the product exists', answers: '200 ok' }],
    'GET /api/v1/products/mil/mail': [{ when: 'it does not exist', answers: '404 product_not_found' }],
    'PATCH /api/v1/products/mill/mail': [
      { when: 'every field is set', body: MAIL, answers: '200 ok' },
      { when: 'the URL is no https', body: { support_url: 'http://a.b' }, answers: '400 invalid_request' },
    ],
    'POST /api/v1/products/mill/mail/preview': [
      { when: 'nothing is sent', body: {}, answers: '200 ok' },
      { as: 'key', when: 'every field is sent', body: MAIL, answers: '200 ok' },
      { when: 'the URL is no https', body: { support_url: 'http://a.b' }, answers: '400 invalid_request' },
    ],
    'POST /api/v1/products/mil/mail/preview': [
      { when: 'it does not exist', body: {}, answers: '404 product_not_found' },
    ],
    'POST /api/v1/products/mill/mail/test': [
      { when: 'the address is not verified', body: {}, answers: '409 invalid_transition' },
      { when: 'the URL is no https', body: { support_url: 'http://a.b' }, answers: '400 invalid_request' },
    ],
    'POST /api/v1/products/mil/mail/test': [
      { when: 'it does not exist', body: {}, answers: '404 product_not_found' },
    ],
    'GET /api/stores': [
      { when: 'there are stores', answers: '200 ok' },
      { as: 'key', when: 'called with an API key', answers: '200 ok' },
    ],
    'GET /api/stores?limit=101': [{ when: 'the page is too large', answers: '400 invalid_request' }],
    'POST /api/stores': [
      { when: 'it has no secret yet', body: { provider: 'generic', name: 'Shop' }, answers: '201 ok' },
      {
        when: 'every field is set',
        body: { provider: 'generic', name: 'Shop', secret: 'whsec_c2VjcmV0', accept_test: true },
        answers: '201 ok',
      },
      {
        when: 'the provider has no API',
        body: { provider: 'generic', name: 'Shop', api_key: 'sk_test_1' },
        answers: '400 invalid_request',
      },
      {
        when: 'the provider is unknown',
        body: { provider: 'etsy', name: 'Shop' },
        answers: '400 invalid_request',
      },
    ],
    'GET /api/stores/{store}': [{ when: 'the store exists', answers: '200 ok' }],
    'GET /api/stores/sto_none': [{ when: 'the store does not exist', answers: '404 not_found' }],
    'PATCH /api/stores/{store}': [
      {
        when: 'the secret changes',
        body: { secret: 'whsec_b3RoZXI=', accept_test: true },
        answers: '200 ok',
      },
      { when: 'the provider makes no token', body: { rotate_secret: true }, answers: '400 invalid_request' },
    ],
    'PATCH /api/stores/sto_none': [{ when: 'the store does not exist', body: {}, answers: '404 not_found' }],
    'DELETE /api/stores/{store}': [
      { when: 'the store exists', answers: '200 ok' },
      { when: 'the store was deleted', answers: '404 not_found' },
    ],
    'GET /api/stores/{store}/offers': [{ when: 'there are offers', answers: '200 ok' }],
    'GET /api/stores/sto_none/offers': [{ when: 'the store does not exist', answers: '404 not_found' }],
    'GET /api/stores/{store}/offers/price_1': [{ when: 'the offer exists', answers: '200 ok' }],
    'GET /api/stores/{store}/offers/price_2': [
      { when: 'the offer does not exist', answers: '404 not_found' },
    ],
    'PUT /api/stores/{store}/offers/price_2': [
      { when: 'the offer is new', body: OFFER, answers: '201 ok' },
      { when: 'every field is set', body: FULL_OFFER, answers: '200 ok' },
      { when: 'it names no product', body: { ...OFFER, product: 'mil' }, answers: '400 invalid_request' },
      { when: 'it has no days', body: { ...OFFER, grant: 'days' }, answers: '400 invalid_request' },
    ],
    'PUT /api/stores/sto_none/offers/price_2': [
      { when: 'the store does not exist', body: OFFER, answers: '404 not_found' },
    ],
    'DELETE /api/stores/{store}/offers/price_1': [
      { when: 'the offer exists', answers: '200 ok' },
      { when: 'the offer was deleted', answers: '404 not_found' },
    ],
  },
};

/** For an account whose address is verified. */
export const VERIFIED_SELLER: Area = {
  setUp: async (ada) => {
    await openShop({}, ada);
    await verifyAddress(ada.accountId);
    return {};
  },
  calls: {
    'POST /api/v1/products/mill/mail/test': [
      { as: 'key', when: 'the address is verified', body: MAIL, answers: '200 ok' },
    ],
  },
};

/** For an account with a purchase that has a license, and one that no offer is for. */
export const PURCHASES: Area = {
  setUp: async (ada) => {
    const shop = await openShop({}, ada);
    await shop.offer('pro', { grant: 'perpetual' });
    await notify(shop.storeId, paid('1'));
    await notify(shop.storeId, paid('2', { offer: 'other' }));
    const [unmapped, fulfilled] = await shop.purchases();
    return { purchase: fulfilled.id, unmapped: unmapped.id };
  },
  calls: {
    'GET /api/purchases': [{ when: 'there are purchases', answers: '200 ok' }],
    'GET /api/purchases?status=unmapped&q=2&limit=1': [{ when: 'one is found', answers: '200 ok' }],
    'GET /api/purchases?status=lost': [{ when: 'the status is unknown', answers: '400 invalid_request' }],
    'GET /api/purchases/{purchase}': [{ when: 'the purchase exists', answers: '200 ok' }],
    'GET /api/purchases/pur_none': [{ when: 'the purchase does not exist', answers: '404 not_found' }],
    'POST /api/purchases/{purchase}/retry': [{ when: 'nothing has changed', answers: '200 ok' }],
    'POST /api/purchases/pur_none/retry': [{ when: 'the purchase does not exist', answers: '404 not_found' }],
    'POST /api/purchases/{unmapped}/assign': [
      { when: 'the product does not exist', body: { product: 'mil' }, answers: '400 invalid_request' },
      { when: 'the product exists', body: { product: 'mill' }, answers: '200 ok' },
      { when: 'it has a product', body: { product: 'mill' }, answers: '409 invalid_transition' },
    ],
    'POST /api/purchases/{purchase}/resend-mail': [{ when: 'it has a license', answers: '202 ok' }],
    'POST /api/purchases/{unmapped}/resend-mail': [
      { when: 'it has no license', answers: '409 invalid_transition' },
    ],
  },
};
