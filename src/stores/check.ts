import { and, eq } from 'drizzle-orm';
import { storeMessages, type StoreRow, stores } from '../db/schema.ts';
import { isFull } from '../db/storage.ts';
import { takeFacts } from '../purchases/take.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { newId } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';
import { openApi, StoreApiError } from './api-access.ts';
import { beginningOf, ofConnected, withoutSold } from './connected.ts';
import type { ApiAccess, RecentPage, StoreApi } from './provider/provider.ts';
import { PROVIDERS } from './provider/providers.ts';
import { unsealFor } from './secrets.ts';
import { storeCtx } from './store-ctx.ts';

// Asks a store's provider every hour for what has happened, so that a notification which never came is made good. Each step takes
// a page, and the facts that are known already cost one query.

/** What a provider lists may be late, and clocks may differ. */
const OVERLAP_MS = 2 * HOUR_MS;
const FULL = 'The account stores as much as it may.';

/** Saves only if `check_at` is as it was read. A new API key sets it, so that the store is checked again at once. */
const save = async (env: Env, store: StoreRow, fields: Partial<StoreRow>): Promise<boolean> => {
  const saved = await storeCtx(env, store)
    .db.update(stores)
    .set(fields)
    .where(and(eq(stores.id, store.id), eq(stores.checkAt, store.checkAt ?? 0)))
    .returning({ id: stores.id });
  return saved.length > 0;
};

/** Nobody else takes the same step, unless this one dies. Returns the store as it is then, or null if somebody else does. */
const claim = async (env: Env, store: StoreRow, nowMs: number): Promise<StoreRow | null> => {
  const claimed = { ...store, checkAt: nowMs + HOUR_MS };
  return (await save(env, store, { checkAt: claimed.checkAt })) ? claimed : null;
};

/**
 * What has to be asked further is asked as for a notification, and again until it is answered. What is listed again may be asked
 * for something new, such as a second refund, unless the page has what is older, and so lists the same for weeks.
 */
const keepAsks = async (env: Env, store: StoreRow, { asks = [], reachesBack }: RecentPage): Promise<void> => {
  if (asks.length === 0) return;
  const nowMs = Date.now();
  const toAsk = { asks, receivedAt: nowMs, readAt: nowMs, tries: 0, problem: null };
  const insert = storeCtx(env, store)
    .db.insert(storeMessages)
    .values({
      id: newId('msg'),
      accountId: store.accountId,
      storeId: store.id,
      hash: sha256(asks.toSorted().join('\n')),
      type: 'check',
      ...toAsk,
    });
  if (reachesBack) await insert.onConflictDoNothing();
  else await insert.onConflictDoUpdate({ target: [storeMessages.storeId, storeMessages.hash], set: toAsk });
};

/** Lets the provider send its notifications here, where it can only be told that by its API. */
const connect = async (env: Env, store: StoreRow, api: StoreApi, access: ApiAccess): Promise<void> => {
  const { publicOrigin } = settingsOf(env);
  if (!api.connect || publicOrigin === null || store.secret === null) return;
  const token = await unsealFor(env, store, 'secret', store.secret);
  await api.connect(access, `${publicOrigin}/hooks/${store.id}/${token}`);
};

const takePage = async (env: Env, store: StoreRow, api: StoreApi, access: ApiAccess, nowMs: number) => {
  const isFirst = store.checkCursor === null;
  if (isFirst) await connect(env, store, api, access);
  const checkUntil = isFirst ? nowMs : (store.checkUntil ?? nowMs);
  const sinceMs = store.checkedThrough === 0 ? beginningOf(store) : store.checkedThrough - OVERLAP_MS;
  const page = await api.listRecent(access, sinceMs, store.checkCursor);
  const ctx = storeCtx(env, store);
  const facts = await (page.reachesBack ? ofConnected : withoutSold)(ctx, store, page.facts);
  if (!(await takeFacts(ctx, store, facts, null))) {
    // The same page again, of which less is new then.
    await save(env, store, { checkAt: nowMs, checkUntil });
    return;
  }
  await keepAsks(env, store, page);
  const isDone = page.next === null;
  await save(env, store, {
    checkCursor: page.next,
    checkUntil: isDone ? null : checkUntil,
    checkAt: isDone ? nowMs + HOUR_MS : nowMs,
    checkFailures: 0,
    checkProblem: null,
    ...(isDone && { checkedThrough: checkUntil }),
  });
};

/** Takes a step of a check that is due. A provider that fails is asked less and less often, at least once a day. */
export const checkStore = async (env: Env, due: StoreRow): Promise<void> => {
  const nowMs = Date.now();
  const store = await claim(env, due, nowMs);
  if (!store) return;
  const { api } = PROVIDERS[store.provider];
  const access = await openApi(env, store, api);
  if (!api || !access) {
    await save(env, store, { checkAt: null });
    return;
  }
  // A shop may be the seller's own server, whose list has no end. What it lists later is taken once there is room.
  if (await isFull(storeCtx(env, store), nowMs)) {
    await save(env, store, { checkProblem: FULL });
    return;
  }
  try {
    await takePage(env, store, api, access, nowMs);
  } catch (error) {
    const isOfProvider = error instanceof StoreApiError;
    if (!isOfProvider)
      logError('store_check_failed', error, { account_id: store.accountId, store_id: store.id });
    await save(env, store, {
      checkFailures: store.checkFailures + 1,
      checkProblem: isOfProvider ? error.message : 'The provider’s answer could not be read.',
      checkAt: nowMs + Math.min(HOUR_MS * 2 ** store.checkFailures, DAY_MS),
      // A cursor that the provider no longer knows would fail forever.
      checkCursor: null,
    });
  }
};
