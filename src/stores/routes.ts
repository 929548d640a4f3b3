import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { endpoint } from '../auth/endpoint.ts';
import type { StoreRow } from '../db/schema.ts';
import { once } from '../gate/worker/commit.ts';
import { type AppEnv, completed } from '../http/context.ts';
import { invalidField } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { pageAfter, pageQuery } from '../shared/schemas/lists.ts';
import { deleteOffer, findOffer, listOffers, putOffer } from './offers.ts';
import {
  createStoreInput,
  deletedOfferBody,
  deletedStoreBody,
  offerBody,
  offerListBody,
  offerRef,
  patchStoreInput,
  putOfferInput,
  storeBody,
  storeListBody,
  toOffer,
  toStore,
} from './schemas.ts';
import {
  createStore,
  deleteStore,
  findStore,
  listStores,
  type MadeStore,
  patchStore,
  revealStore,
} from './stores.ts';
import { hintWork } from './work-hint.ts';
import { workOnStores } from './work.ts';

const originOf = (c: Context<AppEnv>) => settingsOf(c.env).publicOrigin ?? new URL(c.req.url).origin;

/** A token is shown only with the answer that has made it. */
const shown = (c: Context<AppEnv>, { store, token }: { store: StoreRow; token: string | null }) =>
  toStore(store, [originOf(c), 'hooks', store.id, ...(token === null ? [] : [token])].join('/'));

/**
 * A store with another API key is asked at once, which also lets the provider notify it. A repeat shows the token again only if
 * the call has made one.
 */
const madeOnce = async (
  c: Context<AppEnv>,
  make: () => Promise<MadeStore>,
  { makesToken }: { makesToken: boolean },
): Promise<MadeStore> => {
  const { ctx } = c.var;
  const find = async (id: string) =>
    makesToken ? revealStore(ctx, id) : { store: await findStore(ctx, id), token: null };
  const made = await once(ctx, make, find);
  const { checkAt } = made.store;
  if (checkAt !== null && checkAt <= Date.now()) c.executionCtx.waitUntil(hintWork(ctx.env, ctx.accountId));
  return made;
};

/** Anyone who can change a secret could report purchases that nobody has made. */
const changesSecret = (c: Context<AppEnv>): boolean => {
  const { secret, rotate_secret, api_key } = c.req.valid('json' as never) as z.output<typeof patchStoreInput>;
  return secret !== undefined || rotate_secret !== undefined || api_key !== undefined;
};

const refOf = (c: Context<AppEnv>): string => {
  const { data, error } = offerRef.safeParse(c.req.param('ref'));
  if (error) throw invalidField('ref', 'must have 1 to 200 characters');
  return data;
};

const stores = new Hono<AppEnv>()
  .get(
    '/',
    endpoint({
      id: 'listStores',
      tag: 'Stores',
      summary: 'List stores',
      access: 'account',
      query: z.object(pageQuery('sto')),
      answers: [{ status: 200, description: 'The account’s stores, newest first.', schema: storeListBody }],
    }),
    async (c) => {
      const toItem = (store: StoreRow) => shown(c, { store, token: null });
      return c.json(await listStores(c.var.ctx, c.req.valid('query'), toItem), 200);
    },
  )
  .post(
    '/',
    endpoint({
      id: 'createStore',
      tag: 'Stores',
      summary: 'Add a store',
      description:
        'Adds a store whose purchases become licenses. Give its `webhook_url` to the provider. A provider that signs nothing gets a URL with a token, which is shown only now. An account has at most 20 stores.',
      access: 'account',
      wantsProof: true,
      isRepeatable: true,
      body: createStoreInput,
      answers: [{ status: 201, description: 'The store.', schema: storeBody }],
      errors: ['limit_reached'],
    }),
    async (c) => {
      const create = () => createStore(c.var.ctx, c.req.valid('json'));
      return c.json(shown(c, await madeOnce(c, create, { makesToken: true })), 201);
    },
  )
  .get(
    '/:id',
    endpoint({
      id: 'getStore',
      tag: 'Stores',
      summary: 'Get a store',
      access: 'account',
      answers: [{ status: 200, description: 'The store.', schema: storeBody }],
      errors: ['not_found'],
    }),
    async (c) => {
      const store = await findStore(c.var.ctx, c.req.param('id'));
      return c.json(shown(c, { store, token: null }), 200);
    },
  )
  .patch(
    '/:id',
    endpoint({
      id: 'patchStore',
      tag: 'Stores',
      summary: 'Update a store',
      description:
        'A replaced secret is accepted for 24 more hours. At most five secrets are accepted at a time: a change beyond them is refused, and `details` says when the next one is possible.',
      access: 'account',
      wantsProof: changesSecret,
      isRepeatable: true,
      body: patchStoreInput,
      answers: [{ status: 200, description: 'The updated store.', schema: storeBody }],
      errors: ['not_found', 'limit_reached'],
    }),
    async (c) => {
      const input = c.req.valid('json');
      const patch = () => patchStore(c.var.ctx, c.req.param('id'), input);
      return c.json(shown(c, await madeOnce(c, patch, { makesToken: input.rotate_secret === true })), 200);
    },
  )
  .delete(
    '/:id',
    endpoint({
      id: 'deleteStore',
      tag: 'Stores',
      summary: 'Delete a store',
      description: 'Deletes the store and its offers. Its purchases and their licenses stay as they are.',
      access: 'account',
      answers: [{ status: 200, description: 'The store is deleted.', schema: deletedStoreBody }],
      errors: ['not_found'],
    }),
    async (c) => {
      const id = c.req.param('id');
      await deleteStore(c.var.ctx, id);
      return c.json({ id, deleted: true as const }, 200);
    },
  );

const offers = new Hono<AppEnv>()
  .get(
    '/:id/offers',
    endpoint({
      id: 'listOffers',
      tag: 'Stores',
      summary: 'List a store’s offers',
      description: 'Lists offers by their `ref`.',
      access: 'account',
      query: z.object(pageAfter(/^.{1,200}$/s)),
      answers: [{ status: 200, description: 'A page of offers.', schema: offerListBody }],
      errors: ['not_found'],
    }),
    async (c) => c.json(await listOffers(c.var.ctx, c.req.param('id'), c.req.valid('query')), 200),
  )
  .get(
    '/:id/offers/:ref',
    endpoint({
      id: 'getOffer',
      tag: 'Stores',
      summary: 'Get an offer',
      access: 'account',
      answers: [{ status: 200, description: 'The offer.', schema: offerBody }],
      errors: ['not_found'],
    }),
    async (c) => c.json(toOffer(await findOffer(c.var.ctx, c.req.param('id'), refOf(c))), 200),
  )
  .put(
    '/:id/offers/:ref',
    endpoint({
      id: 'putOffer',
      tag: 'Stores',
      summary: 'Create or replace an offer',
      description:
        'Says what a price, variant, or product of the store means here. `ref` is the store’s own id, URL-encoded. Replaces the whole offer: a field that the body doesn’t have gets its default. A store has at most 1,000 offers.',
      access: 'account',
      body: putOfferInput,
      answers: [
        { status: 200, description: 'The replaced offer.', schema: offerBody },
        { status: 201, description: 'The new offer.', schema: offerBody },
      ],
      errors: ['not_found', 'limit_reached'],
    }),
    async (c) => {
      const { ctx } = c.var;
      const { offer, isNew } = await putOffer(ctx, c.req.param('id'), refOf(c), c.req.valid('json'));
      // The first purchases have their licenses with the answer, and the queue goes on with the others.
      await completed(c, workOnStores(ctx.env, ctx.accountId));
      return c.json(toOffer(offer), isNew ? 201 : 200);
    },
  )
  .delete(
    '/:id/offers/:ref',
    endpoint({
      id: 'deleteOffer',
      tag: 'Stores',
      summary: 'Delete an offer',
      description: 'Licenses created by it stay.',
      access: 'account',
      answers: [{ status: 200, description: 'The offer is deleted.', schema: deletedOfferBody }],
      errors: ['not_found'],
    }),
    async (c) => {
      const ref = refOf(c);
      await deleteOffer(c.var.ctx, c.req.param('id'), ref);
      return c.json({ ref, deleted: true as const }, 200);
    },
  );

export const storeRoutes = new Hono<AppEnv>().route('/', stores).route('/', offers);
