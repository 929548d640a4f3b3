import { infiniteQueryOptions, mutationOptions, queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { DEFAULT_GRACE_DAYS, type PurchaseStatus } from '../../shared/rules/stores.ts';
import { api, call, type JsonOf } from './client.ts';
import { ApiError, invalidField } from './error.ts';
import { once } from './once.ts';
import { cursorOf, PAGE, paged } from './queries.ts';

// The queries and mutations of stores, their offers, and purchases.

const storeApi = api.stores[':id'];
const offerApi = storeApi.offers[':ref'];
const purchaseApi = api.purchases[':id'];

export type Store = InferResponseType<typeof storeApi.$get>;
export type Offer = InferResponseType<typeof offerApi.$get>;
export type PurchasePage = InferResponseType<typeof api.purchases.$get>;
export type Purchase = PurchasePage['data'][number];
export type PurchaseDetails = InferResponseType<typeof purchaseApi.$get>;

/** A store that waits for its first notification is looked at as often. */
const WATCH_MS = 3_000;

/** An account has at most 20 stores. */
export const storesQuery = queryOptions({
  queryKey: ['stores', 'list'],
  queryFn: () => call(api.stores.$get({ query: { limit: PAGE } })),
});

export const storeQuery = (id: string) =>
  queryOptions({
    queryKey: ['stores', 'one', id],
    queryFn: () => call(storeApi.$get({ param: { id } })),
    refetchInterval: ({ state }) => (state.data?.last_event_at === null ? WATCH_MS : false),
  });

export const offersQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['stores', 'offers', id],
    queryFn: ({ pageParam }) =>
      call(storeApi.offers.$get({ param: { id }, query: { limit: PAGE, ...cursorOf(pageParam) } })),
    ...paged,
  });

export const createStore = mutationOptions({
  mutationFn: once(
    (json: JsonOf<typeof api.stores.$post>, options) => call(api.stores.$post({ json }, options)),
    {
      made: 'added a store',
      again: 'You can find it in the list. Submit the form again to add another store.',
    },
  ),
  meta: { invalidates: ['stores'] },
});

export const patchStore = (id: string) =>
  mutationOptions({
    mutationFn: (json: JsonOf<typeof storeApi.$patch>) => call(storeApi.$patch({ param: { id }, json })),
    meta: { invalidates: ['stores'] },
  });

export const deleteStore = (id: string) =>
  mutationOptions({
    mutationFn: () => call(storeApi.$delete({ param: { id } })),
    meta: { invalidates: ['stores'] },
  });

/** The store's own ids may have any characters. */
const offerParam = (id: string, ref: string) => ({ id, ref: encodeURIComponent(ref) });

export type OfferValues = Omit<Offer, 'ref' | 'created_at' | 'updated_at'>;

export const NEW_OFFER: OfferValues = {
  product: '',
  grant: 'perpetual',
  days: null,
  quantity: 'licenses',
  terms: {},
  grace_days: DEFAULT_GRACE_DAYS,
  on_refund: 'revoke',
  on_dispute: 'suspend',
  mail: true,
};

/** The service refuses days with a grant that has none. */
const toInput = (offer: OfferValues): JsonOf<typeof offerApi.$put> => ({
  product: offer.product,
  grant: offer.grant,
  days: offer.grant === 'days' ? offer.days : null,
  quantity: offer.quantity,
  terms: offer.terms,
  grace_days: offer.grace_days,
  on_refund: offer.on_refund,
  on_dispute: offer.on_dispute,
  mail: offer.mail,
});

interface SaveOffer {
  ref: string;
  /** From the offer that there is, or from `NEW_OFFER`. */
  changes: Partial<OfferValues>;
  isNew: boolean;
}

/**
 * Saving an offer makes the licenses of purchases that waited for it. The API replaces an offer as a whole, so it is read first: a
 * new one replaces none, and an edit keeps what has changed elsewhere.
 */
export const saveOffer = (id: string) =>
  mutationOptions({
    mutationFn: async ({ ref, changes, isNew }: SaveOffer) => {
      const param = offerParam(id, ref);
      const existing = await call(offerApi.$get({ param })).catch((error: unknown) => {
        if (isNew && error instanceof ApiError && error.status === 404) return null;
        throw error;
      });
      if (isNew && existing) throw invalidField('ref', 'This store already has an offer with this ID');
      const json = toInput({ ...(existing ?? NEW_OFFER), ...changes });
      return call(offerApi.$put({ param, json }));
    },
    meta: { invalidates: ['stores', 'purchases', 'licenses'] },
  });

export const deleteOffer = (id: string, ref: string) =>
  mutationOptions({
    mutationFn: () => call(offerApi.$delete({ param: offerParam(id, ref) })),
    meta: { invalidates: ['stores'] },
  });

export interface PurchaseFilter {
  q?: string | undefined;
  status?: PurchaseStatus | undefined;
}

export const purchasesQuery = ({ q, status }: PurchaseFilter) =>
  infiniteQueryOptions({
    queryKey: ['purchases', 'list', q ?? '', status ?? ''],
    // A store reports a purchase while its seller looks at the store.
    staleTime: 0,
    queryFn: ({ pageParam }) =>
      call(
        api.purchases.$get({
          query: { limit: PAGE, ...cursorOf(pageParam), ...(q && { q }), ...(status && { status }) },
        }),
      ),
    ...paged,
  });

export const purchaseQuery = (id: string) =>
  queryOptions({
    queryKey: ['purchases', 'one', id],
    queryFn: () => call(purchaseApi.$get({ param: { id } })),
  });

export const retryPurchase = (id: string) =>
  mutationOptions({
    mutationFn: () => call(purchaseApi.retry.$post({ param: { id } })),
    meta: { invalidates: ['purchases', 'licenses', 'dashboard'] },
  });

export const assignPurchase = (id: string) =>
  mutationOptions({
    mutationFn: (product: string) => call(purchaseApi.assign.$post({ param: { id }, json: { product } })),
    meta: { invalidates: ['purchases', 'licenses', 'dashboard'] },
  });

export const resendPurchaseMail = (id: string) =>
  mutationOptions({
    mutationFn: () => call(purchaseApi['resend-mail'].$post({ param: { id } })),
    meta: { invalidates: ['purchases'] },
  });
