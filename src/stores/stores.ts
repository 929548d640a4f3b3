import { and, desc, eq, exists, isNotNull, lt, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { audit, auditAsRead, auditIf, untilAsRead } from '../audit/audit.ts';
import { accountDatabases, placeOf } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { offers, purchases, storeMessages, type StoreRow, stores } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { undoIfEnded } from '../sessions/caller.ts';
import { AppError, invalidField, limitReached } from '../shared/app-error.ts';
import { MAX_STORES } from '../shared/rules/stores.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';
import { newId } from '../shared/text/ids.ts';
import { PROVIDERS } from './provider/providers.ts';
import type { createStoreInput, patchStoreInput } from './schemas.ts';
import { newToken, replaceSecret, sealFor, unsealFor } from './secrets.ts';

const isStore = ({ accountId }: Ctx, id: string) => and(eq(stores.accountId, accountId), eq(stores.id, id));

export const findStore = async (ctx: Ctx, id: string): Promise<StoreRow> => {
  const [row] = await ctx.db.select().from(stores).where(isStore(ctx, id));
  if (!row) throw new AppError('not_found');
  return row;
};

/** Finds a store by its id alone, in whichever database its account is. */
export const findAnyStore = async (env: Env, id: string): Promise<StoreRow | null> => {
  // The newest database first, since most new stores are there.
  for (const { binding, db } of accountDatabases(env).toReversed()) {
    const [row] = await db.select().from(stores).where(eq(stores.id, id));
    // While an account moves, its rows are in two databases.
    if (row && (await placeOf(env, row.accountId)).binding === binding) return row;
  }
  return null;
};

export const listStores = async <Item>(
  { db, accountId }: Ctx,
  { limit, cursor }: PageInput,
  toItem: (row: StoreRow) => Item,
) => {
  const before = cursor === undefined ? undefined : lt(stores.id, cursor);
  const rows = await db
    .select()
    .from(stores)
    .where(and(eq(stores.accountId, accountId), before))
    .orderBy(desc(stores.id))
    .limit(limit + 1);
  return toPage(rows, limit, toItem);
};

/** The account's id while it has room for another store, and null otherwise, which the column refuses. */
const accountWithRoom = ({ accountId }: Ctx) =>
  sql<string>`iif((SELECT count(*) FROM stores WHERE account_id = ${accountId}) < ${MAX_STORES}, ${accountId}, NULL)`;

const refuseWithoutRoom = (error: unknown): never => {
  if (!violatesNotNull(error, 'stores.account_id')) throw error;
  throw limitReached('stores', `An account has at most ${MAX_STORES} stores. Delete one first.`);
};

const checkApiKey = (provider: StoreRow['provider'], apiKey: string | null | undefined) => {
  const { api, needsApi } = PROVIDERS[provider];
  if (needsApi && !apiKey) throw invalidField('api_key', 'is required, because the provider signs nothing');
  if (!apiKey) return;
  if (!api) throw invalidField('api_key', 'is of no use: this provider has no API');
  const problem = api.keyProblem?.(apiKey);
  if (problem) throw invalidField('api_key', problem);
};

/** A store whose token was made just now, which nobody sees again. */
export interface MadeStore {
  store: StoreRow;
  token: string | null;
}

export const createStore = async (ctx: Ctx, input: z.output<typeof createStoreInput>): Promise<MadeStore> => {
  checkApiKey(input.provider, input.api_key);
  const nowMs = Date.now();
  const id = newId('sto');
  const token = PROVIDERS[input.provider].secret === 'made' ? newToken() : null;
  const secret = token ?? input.secret ?? null;
  const apiKey = input.api_key ?? null;
  const store: StoreRow = {
    id,
    accountId: ctx.accountId,
    provider: input.provider,
    name: input.name,
    secret: secret && (await sealFor(ctx, id, 'secret', secret)),
    earlierSecrets: [],
    apiKey: apiKey && (await sealFor(ctx, id, 'api_key', apiKey)),
    acceptTest: input.accept_test ?? false,
    createdAt: nowMs,
    updatedAt: nowMs,
    lastEventAt: null,
    checkAt: apiKey === null ? null : nowMs,
    checkedThrough: 0,
    checkCursor: null,
    checkUntil: null,
    checkFailures: 0,
    checkProblem: null,
  };
  const insert = ctx.db.insert(stores).values({ ...store, accountId: accountWithRoom(ctx) });
  await commit(
    ctx,
    [insert, audit(ctx, 'store.create', id, { provider: input.provider })],
    [{ kind: 'account', ref: ctx.accountId }],
    { claimsId: id },
  ).catch(refuseWithoutRoom);
  // Its secret would let its caller in again, as a shop.
  await undoIfEnded(ctx, (plain) => deleteStore(plain, id));
  return { store, token };
};

/** Lets a store have what it had, unless something else has changed it since. */
const restoreStore = async (ctx: Ctx, earlier: StoreRow, changedAt: number): Promise<void> => {
  const { id, lastEventAt: _, ...fields } = earlier;
  const isAsLeft = and(isStore(ctx, id), eq(stores.updatedAt, changedAt));
  const isFound = exists(ctx.db.select({ id: stores.id }).from(stores).where(isAsLeft));
  await commit(
    ctx,
    [
      auditIf(ctx, isFound, 'store.update', id, { fields: ['secret', 'api_key'] }),
      ctx.db
        .update(stores)
        .set({ ...fields, updatedAt: changedAt + 1 })
        .where(isAsLeft),
    ],
    [{ kind: 'account', ref: ctx.accountId }],
    { isBeyondLimits: true },
  );
};

/** What the call answered that made the store's token. */
export const revealStore = async (ctx: Ctx, id: string): Promise<MadeStore> => {
  const store = await findStore(ctx, id);
  const isMade = PROVIDERS[store.provider].secret === 'made' && store.secret !== null;
  return { store, token: isMade ? await unsealFor(ctx.env, store, 'secret', store.secret ?? '') : null };
};

const apiKeyFields = async (ctx: Ctx, store: StoreRow, apiKey: string | null | undefined, nowMs: number) => {
  if (apiKey === undefined) return {};
  checkApiKey(store.provider, apiKey);
  const fresh = { checkCursor: null, checkFailures: 0, checkProblem: null };
  return apiKey === null
    ? { ...fresh, apiKey: null, checkAt: null }
    : { ...fresh, apiKey: await sealFor(ctx, store.id, 'api_key', apiKey), checkAt: nowMs };
};

export const patchStore = async (
  ctx: Ctx,
  id: string,
  input: z.output<typeof patchStoreInput>,
): Promise<MadeStore> => {
  const { earlier, ...made } = await untilAsRead(async () => {
    const store = await findStore(ctx, id);
    const isMade = PROVIDERS[store.provider].secret === 'made';
    if (input.rotate_secret && !isMade)
      throw invalidField('rotate_secret', 'is for providers that sign nothing: send the new secret instead');
    const nowMs = Math.max(Date.now(), store.updatedAt + 1);
    const token = input.rotate_secret ? newToken() : null;
    const secret = isMade ? token : (input.secret ?? null);
    const fields = {
      ...omitUndefined({ name: input.name, acceptTest: input.accept_test }),
      ...(secret !== null && (await replaceSecret(ctx, store, secret, nowMs))),
      ...(await apiKeyFields(ctx, store, input.api_key, nowMs)),
      updatedAt: nowMs,
    };
    const isAsRead = sql`EXISTS (SELECT 1 FROM stores WHERE id = ${id} AND updated_at = ${store.updatedAt})`;
    await commit(
      ctx,
      [
        auditAsRead(ctx, isAsRead, 'store.update', id, { fields: Object.keys(input) }),
        ctx.db.update(stores).set(fields).where(isStore(ctx, id)),
      ],
      [{ kind: 'account', ref: ctx.accountId }],
      { claimsId: id },
    );
    return { store: { ...store, ...fields }, token, earlier: store };
  });
  await undoIfEnded(ctx, (plain) => restoreStore(plain, earlier, made.store.updatedAt));
  return made;
};

/** Deletes a store. What was bought there stays, and what was still due for it ends. */
export const deleteStore = async (ctx: Ctx, id: string): Promise<void> => {
  await findStore(ctx, id);
  const { db } = ctx;
  const isDue = and(eq(purchases.storeId, id), isNotNull(purchases.decideAt));
  const isToRead = and(eq(storeMessages.storeId, id), isNotNull(storeMessages.readAt));
  await commit(
    ctx,
    [
      db.delete(stores).where(isStore(ctx, id)),
      db.delete(offers).where(eq(offers.storeId, id)),
      db.update(purchases).set({ decideAt: null }).where(isDue),
      db.update(storeMessages).set({ readAt: null }).where(isToRead),
      audit(ctx, 'store.delete', id),
    ],
    [{ kind: 'account', ref: ctx.accountId }],
    { isBeyondLimits: true },
  );
};
